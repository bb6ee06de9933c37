"""Where the embedded parts keep their files."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

# The kernel takes 107 bytes for the path of a socket; the file names we add stay below 30.
LONGEST_SOCKET_FOLDER = 77


class LocalError(Exception):
    """An embedded part cannot run here. The message says why, and what to do."""


def data_folder() -> Path:
    """The folder everything is written to: STUDIO_DATA_DIR, or ``var`` in the checkout."""
    return Path(os.environ.get("STUDIO_DATA_DIR") or CHECKOUT / "var").resolve()


def require_data_folder() -> Path:
    """The data folder, made if need be. Raises LocalError when we may not write to it."""
    folder = data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LocalError(
            f"The data folder {folder} cannot be made: {error.strerror}. Set STUDIO_DATA_DIR to another one."
        ) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise LocalError(
            f"User id {os.geteuid()} may not write to the data folder {folder}, which belongs to user id "
            f"{folder.stat().st_uid}. Run as that user, or set STUDIO_DATA_DIR to another folder."
        )
    return folder


def socket_folder(data: Path) -> Path:
    """A private folder for sockets: always the same for a data folder, and short enough for a socket's path."""
    inside = data / "run"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET_FOLDER:
        return inside
    return Path("/tmp") / f"pi-bench-{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}"


def make_private_folder(path: Path, *, owner: int) -> None:
    """Make the folder for its owner alone; an existing one must already belong to them.

    Raises LocalError when somebody else has put a folder there.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.mkdir(path, 0o700)
        if os.geteuid() == 0:
            os.chown(path, owner, -1)
    except FileExistsError:
        found = os.lstat(path)
        if path.is_symlink() or found.st_uid != owner:
            raise LocalError(
                f"{path} belongs to user id {found.st_uid}, not to {owner}. Run as that user, "
                "remove the folder, or set STUDIO_DATA_DIR to a folder of your own."
            ) from None
