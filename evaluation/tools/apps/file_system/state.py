from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from evaluation.tools.apps.framework import AppState


@dataclass(frozen=True)
class Directory:
    directory_path: str
    """Absolute, without a slash at its end."""
    owner: str
    created_at: str = ""


@dataclass(frozen=True)
class File:
    file_path: str
    owner: str
    content: str = ""
    created_at: str = ""
    updated_at: str = ""


class FileSystemState(AppState):
    app = "file_system"

    def __init__(self) -> None:
        super().__init__()
        self.directories = self.table("directories", Directory, "directory", {"owner": "accounts"})
        self.files = self.table("files", File, "file", {"owner": "accounts"})

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for path in [*(each.directory_path for each in self.directories), *(each.file_path for each in self.files)]:
            parent = str(PurePosixPath(path).parent)
            if parent not in self.directories and parent not in ("/", "/home"):
                yield f"{path}: its directory {parent} does not exist."
        for file in self.files:
            if file.file_path in self.directories:
                yield f"{file.file_path} is both a file and a directory."
