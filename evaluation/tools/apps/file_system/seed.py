"""What a persona's files may leave out, and data to start from."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from evaluation.tools.apps.file_system.state import Directory, FileSystemState

EXAMPLE: dict[str, Any] = {
    "accounts": [{"username": "ada@example.com", "password": "files-of-ada", "first_name": "Ada", "last_name": "Berg"}],
    "files": [{"file_path": "/home/ada/letters/landlord.txt", "owner": "ada@example.com", "content": "Dear Mr Ames,"}],
}


def home_of(username: str) -> str:
    return f"/home/{username.partition('@')[0]}"


def complete(state: FileSystemState) -> None:
    """Everybody has a home, and every file its directories."""
    for account in state.accounts:
        _add(state, home_of(account.username), account.username)
    for folder, owner in {(file.file_path.rpartition("/")[0], file.owner): None for file in state.files}:
        path = PurePosixPath(folder)
        for parent in (*reversed(path.parents), path):
            if len(parent.parts) > 2:
                _add(state, str(parent), owner)


def _add(state: FileSystemState, path: str, owner: str) -> None:
    if path not in state.directories:
        state.directories.put(Directory(path, owner))
