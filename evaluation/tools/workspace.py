"""A folder that no path leads out of: each path is opened name by name, and no link is followed.

Names and contents come from a model. Each folder is opened relative to its parent, so that a link cannot be
slipped in between check and use.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from studio.domain.archive import name_problems

MEMORY = "MEMORY.md"
"""Where an agent keeps what it will need in later sessions."""
MAX_DEPTH = 32
MAX_NAME_BYTES = 255
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class WorkspaceError(Exception):
    """A path or content is not allowed. The message is for whoever requested it."""


@dataclass(frozen=True)
class WorkspaceLimits:
    file_bytes: int = 8 * 1024 * 1024
    total_bytes: int = 120 * 1024 * 1024
    files: int = 4_900


@dataclass(frozen=True)
class WorkspaceEntry:
    """A file or folder."""

    path: str
    folder: bool
    size: int = 0
    special: bool = False
    """A link, pipe or socket, which is only listed on request."""


class Workspace:
    """Files below ``root``, by relative path. Not thread-safe."""

    def __init__(self, root: Path, limits: WorkspaceLimits | None = None) -> None:
        self.root = root
        self.limits = limits or WorkspaceLimits()
        self._used: tuple[int, int] | None = None

    def read(self, path: str) -> bytes:
        """Raises WorkspaceError."""
        parts = self._parts(path)
        with self._parent(parts, path) as folder, self._file(folder, parts, path, os.O_RDONLY) as file:
            size = os.fstat(file).st_size
            if size > self.limits.file_bytes:
                raise WorkspaceError(f"{path} is too large to read ({size} bytes).")
            with os.fdopen(os.dup(file), "rb") as stream:
                return stream.read(self.limits.file_bytes + 1)

    def write(self, path: str, content: bytes) -> None:
        """Create or replace a file, with its folders. Raises WorkspaceError."""
        parts = self._parts(path)
        if not parts:
            raise WorkspaceError("Name a file, not the workspace itself.")
        for message, fix in (problem for part in parts for problem in name_problems(part)):
            raise WorkspaceError(f"{message} {fix}")
        if len(content) > self.limits.file_bytes:
            raise WorkspaceError(f"A file may hold at most {self.limits.file_bytes // 2**20} MB.")
        files, total = self._count()
        with self._parent(parts, path, create=True) as folder:
            old = self._size(folder, parts[-1])
            files, total = files + (old is None), total + len(content) - (old or 0)
            if files > self.limits.files:
                raise WorkspaceError(f"The workspace may hold at most {self.limits.files} files.")
            if total > self.limits.total_bytes:
                raise WorkspaceError(f"The workspace may hold at most {self.limits.total_bytes // 2**20} MB.")
            with self._file(folder, parts, path, os.O_RDWR | os.O_CREAT) as file:
                os.ftruncate(file, 0)
                with os.fdopen(os.dup(file), "wb") as stream:
                    stream.write(content)
        self._used = files, total

    def is_folder(self, path: str) -> bool:
        """Raises WorkspaceError for an invalid path."""
        parts = self._parts(path)
        try:
            with self._parent((*parts, "."), path):
                return True
        except WorkspaceError:
            return False

    def is_file(self, path: str) -> bool:
        """Raises WorkspaceError for an invalid path."""
        parts = self._parts(path)
        try:
            with self._parent(parts, path) as folder:
                return bool(parts) and stat.S_ISREG(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode)
        except (WorkspaceError, OSError):
            return False

    def remove(self, path: str) -> None:
        """A file, or an empty folder. Raises WorkspaceError."""
        parts = self._parts(path)
        try:
            with self._parent(parts, path) as folder:
                if stat.S_ISDIR(os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode):
                    os.rmdir(parts[-1], dir_fd=folder)
                else:
                    os.unlink(parts[-1], dir_fd=folder)
        except (OSError, IndexError):
            raise WorkspaceError(f"{path} cannot be removed.") from None
        self._used = None

    def make_folder(self, path: str) -> None:
        """With its parents; one that is there stays. Raises WorkspaceError."""
        parts = self._parts(path)
        for message, fix in (problem for part in parts for problem in name_problems(part)):
            raise WorkspaceError(f"{message} {fix}")
        with self._parent((*parts, "."), path, create=True):
            pass

    def entries(self, path: str = ".", *, deep: bool = False, special: bool = False) -> Iterator[WorkspaceEntry]:
        """A folder's entries by name; with ``deep``, each folder is followed by its contents. Raises
        WorkspaceError.
        """
        parts = self._parts(path)
        with self._parent((*parts, "."), path) as folder:
            yield from self._list(folder, "/".join(parts), deep, len(parts), special)

    def _list(self, folder: int, prefix: str, deep: bool, depth: int, special: bool) -> Iterator[WorkspaceEntry]:
        with os.scandir(folder) as scan:
            entries = sorted(scan, key=lambda entry: entry.name)
        for entry in entries:
            path = f"{prefix}/{entry.name}" if prefix else entry.name
            if entry.is_dir(follow_symlinks=False):
                yield WorkspaceEntry(path, folder=True)
                if deep and depth < MAX_DEPTH:
                    try:
                        inner = os.open(entry.name, _FOLDER, dir_fd=folder)
                    except OSError:
                        continue
                    try:
                        yield from self._list(inner, path, deep, depth + 1, special)
                    finally:
                        os.close(inner)
            elif entry.is_file(follow_symlinks=False):
                yield WorkspaceEntry(path, folder=False, size=entry.stat(follow_symlinks=False).st_size)
            elif special:
                yield WorkspaceEntry(path, folder=False, special=True)

    def _parts(self, path: str) -> tuple[str, ...]:
        if path.startswith(("/", "~")):
            raise WorkspaceError(f"Paths are relative to the workspace: leave out the beginning of {path[:200]!r}.")
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if ".." in parts:
            raise WorkspaceError(f"{path[:200]!r} leads out of the workspace.")
        if len(parts) > MAX_DEPTH:
            raise WorkspaceError(f"Folders go at most {MAX_DEPTH} deep.")
        for part in parts:
            if any(ord(character) < 32 or 0xD800 <= ord(character) <= 0xDFFF for character in part):
                raise WorkspaceError("A name holds characters that no file name may have.")
            if len(part.encode()) > MAX_NAME_BYTES:
                raise WorkspaceError(f"A name may have at most {MAX_NAME_BYTES} bytes.")
        return parts

    @contextmanager
    def _parent(self, parts: tuple[str, ...], path: str, *, create: bool = False) -> Iterator[int]:
        folder = os.open(self.root, _FOLDER)
        try:
            for part in parts[:-1]:
                folder = self._open_inner(folder, part, path, create)
            yield folder
        finally:
            os.close(folder)

    def _open_inner(self, folder: int, part: str, path: str, create: bool) -> int:
        """Open a folder within ``folder``, and close the latter on success."""
        try:
            inner = os.open(part, _FOLDER, dir_fd=folder)
        except FileNotFoundError:
            if not create:
                raise WorkspaceError(f"{path} does not exist.") from None
            os.mkdir(part, 0o755, dir_fd=folder)
            inner = os.open(part, _FOLDER, dir_fd=folder)
        except OSError:
            raise WorkspaceError(f"{part} in {path} is not a folder.") from None
        os.close(folder)
        return inner

    @contextmanager
    def _file(self, folder: int, parts: tuple[str, ...], path: str, flags: int) -> Iterator[int]:
        """A regular file, opened without following a link or blocking on a pipe."""
        if not parts:
            raise WorkspaceError("The workspace itself is a folder.")
        try:
            file = os.open(parts[-1], flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644, dir_fd=folder)
        except FileNotFoundError:
            raise WorkspaceError(f"{path} does not exist.") from None
        except IsADirectoryError:
            raise WorkspaceError(f"{path} is a folder.") from None
        except OSError:
            raise WorkspaceError(f"{path} is not a plain file.") from None
        try:
            mode = os.fstat(file).st_mode
            if not stat.S_ISREG(mode):
                raise WorkspaceError(f"{path} is a folder." if stat.S_ISDIR(mode) else f"{path} is not a plain file.")
            yield file
        finally:
            os.close(file)

    def _size(self, folder: int, name: str) -> int | None:
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else 0

    def _count(self) -> tuple[int, int]:
        """Number of files and bytes; counted once, then updated by each write."""
        if self._used is None:
            sizes = [entry.size for entry in self.entries(deep=True) if not entry.folder]
            self._used = len(sizes), sum(sizes)
        return self._used
