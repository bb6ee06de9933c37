"""Paths of the data folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]

# The kernel allows 107 bytes for the path of a socket; file names in the folder stay below 30.
MAX_SOCKET_FOLDER_BYTES = 77


class LocalError(Exception):
    """An embedded server or process cannot run here. The message says why, and what to do."""


def data_folder() -> Path:
    return Path(os.environ.get("STUDIO_DATA_DIR") or CHECKOUT / "var").resolve()


def require_data_folder() -> Path:
    """Create the data folder if it is missing. Raises LocalError if it is not writable."""
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
    """The same folder each time for a data folder, with a path short enough for sockets."""
    inside = data / "run"
    if len(os.fsencode(inside)) <= MAX_SOCKET_FOLDER_BYTES:
        return inside
    return Path("/tmp") / f"pi-bench-{hashlib.sha256(os.fsencode(data)).hexdigest()[:16]}"


def make_private_folder(path: Path, *, owner: int) -> None:
    """Create the folder for ``owner`` alone. Raises LocalError if it exists and belongs to another user."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.mkdir(path, 0o700)
        if os.geteuid() == 0:
            os.chown(path, owner, -1)
    except FileExistsError:
        status = os.lstat(path)
        if path.is_symlink() or status.st_uid != owner:
            raise LocalError(
                f"{path} belongs to user id {status.st_uid}, not to {owner}. Run as that user, "
                "remove the folder, or set STUDIO_DATA_DIR to a folder of your own."
            ) from None
