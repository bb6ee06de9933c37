"""Reading and writing folders as path → bytes, with the same checks as archives."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from studio.domain.archive import Limits, Unpacked, check_names
from studio.domain.problems import Problem


class FolderNotEmptyError(Exception):
    """The target folder already exists."""


def read_folder(folder: Path, limits: Limits) -> Unpacked:
    """Every file by its path, which starts with the folder's own name. Links are rejected, never followed."""
    folder = folder.resolve()
    unpacked = Unpacked()
    total = 0
    for path in _files(folder, unpacked, limits):
        name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
        size = path.stat().st_size
        total += size
        if size > limits.file_bytes:
            _refuse(
                unpacked, name, f"The file is larger than {limits.file_bytes:,} bytes.", "Leave it out or split it."
            )
        elif total > limits.unpacked_bytes:
            _refuse(unpacked, "", f"The folder holds more than {limits.unpacked_bytes:,} bytes.", "Import it in parts.")
            break
        else:
            try:
                unpacked.files[name] = path.read_bytes()
            except OSError as error:
                _refuse(
                    unpacked,
                    name,
                    f"The file cannot be read: {error.strerror}.",
                    "Give this user permission to read it.",
                )
    unpacked.errors += check_names(unpacked.files, limits)
    return unpacked if not unpacked.errors else Unpacked(errors=unpacked.errors)


def require_free(tops: Iterable[str], out: Path) -> None:
    """Raises FolderNotEmptyError if one of these folders exists already, so that old files do not mix with new ones,
    and ValueError if two of them are one folder on many systems."""
    tops = list(tops)
    if problems := check_names([f"{top}/-" for top in tops], Limits(files=len(tops))):
        raise ValueError(f"{problems[0].file}: {problems[0].message}")
    for top in tops:
        if (out / top).exists():
            raise FolderNotEmptyError(f"{out / top} already exists")


def write_folder(files: Mapping[str, bytes], out: Path) -> None:
    if problems := check_names(files, Limits(files=len(files))):
        raise ValueError(f"{problems[0].file}: {problems[0].message}")
    made: set[str] = set()
    for path, content in files.items():
        folder, _, name = path.rpartition("/")
        if folder not in made:
            (out / folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        with open(f"{out}/{folder}/{name}" if folder else out / name, "wb", buffering=0) as file:
            file.write(content)


def _files(folder: Path, unpacked: Unpacked, limits: Limits) -> list[Path]:
    files: list[Path] = []
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if name not in (".git", "__pycache__"))
        for name in [*folders, *sorted(names)]:
            path = Path(parent, name)
            display_path = f"{folder.name}/{path.relative_to(folder).as_posix()}"
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                _refuse(unpacked, display_path, "This is a link.", "Put the file itself into the folder.")
            elif stat.S_ISREG(mode):
                files.append(path)
            elif not stat.S_ISDIR(mode):
                _refuse(unpacked, display_path, "This is neither a file nor a folder.", "Remove it.")
        if len(files) > limits.files:
            _refuse(unpacked, "", f"The folder holds more than {limits.files:,} files.", "Import it in parts.")
            return []
    return files


def _refuse(unpacked: Unpacked, file: str, message: str, fix: str) -> None:
    file = file.encode("utf-8", "replace").decode()
    unpacked.errors.append(Problem(file=file, message=message, fix=fix))
