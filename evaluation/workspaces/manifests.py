"""Workspaces as manifests: staged before a session, stored after each turn, rebuilt to resume.

An agent's files are hostile: links and special files are never followed or stored, and a workspace beyond the limits is
the agent's failure.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from evaluation.protocol.participants import AgentError
from evaluation.tools.workspace import MEMORY
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

Manifest = Mapping[str, str]
"""Path in the workspace → sha256 of its content."""
Read = Callable[[Sequence[str]], Mapping[str, bytes]]
"""Contents by sha256, as far as they are stored."""
Keep = Callable[[Sequence[bytes]], Sequence[str]]
"""Stores contents and returns the sha256 of each, in order."""

MAX_FILES = 5_000
MAX_BYTES = 128 * 1024 * 1024
SKILLS = "skills"
EMPTY = hashlib.sha256(b"").hexdigest()


class MissingContentError(Exception):
    """A file's content is not stored, so the benchmark is damaged."""


def stage_files(
    manifest: Manifest, persona: PersonaSpec, task: TaskSpec, *, with_memory: bool = False
) -> dict[str, str]:
    """The workspace at a session's start (PIBENCH.md, section 1): the persona's skills replace earlier ones, and
    the task's files are added; nothing else is removed. ``with_memory``: MEMORY.md is there, if only empty. Raises
    ValueError for an invalid path.
    """
    files = dict(manifest)
    skills = [skill for skill in persona.skills if not task.skills or skill.name in task.skills]
    if persona.skills:
        files = {path: sha for path, sha in files.items() if PurePosixPath(path).parts[0] != SKILLS}
        for skill in skills:
            _add(files, ((f"{SKILLS}/{skill.name}/{file.path}", file) for file in skill.files))
    _add(files, ((asset.path, asset) for asset in task.assets))
    if with_memory and not any(PurePosixPath(path).parts[0] == MEMORY for path in files):
        files[MEMORY] = EMPTY
    return files


def rebuild_workspace(manifest: Manifest, folder: Path, read: Read) -> None:
    """Make ``folder`` contain exactly the files of ``manifest``. Raises MissingContentError."""
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            os.unlink(entry.path)
    contents = read(list(manifest.values()))
    for path, sha in manifest.items():
        if sha not in contents:
            raise MissingContentError(f"The content of {path} is not stored.")
        target = folder / safe_path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(contents[sha])


def store_files(folder: Path, known: Manifest, keep: Keep) -> dict[str, str]:
    """Store the folder's contents that ``known``, whose own are stored already, lacks; returns its manifest.

    Raises AgentError if the workspace is too large.
    """
    manifest: dict[str, str] = {}
    new: dict[str, bytes] = {}
    stored = set(known.values())
    total = 0
    for path, file in _files(folder):
        content = _content(file, MAX_BYTES - total)
        total += len(content)
        if len(manifest) == MAX_FILES:
            raise AgentError(f"The workspace holds more than {MAX_FILES} files.")
        sha = hashlib.sha256(content).hexdigest()
        manifest[path] = sha
        if sha not in stored:
            new[sha] = content
    if new:
        keep(list(new.values()))
    return dict(sorted(manifest.items()))


def manifest_reader(manifest: Manifest, read: Read) -> Callable[[str], bytes | None]:
    def read_path(path: str) -> bytes | None:
        sha = manifest.get(str(PurePosixPath(path.strip())))
        return read([sha]).get(sha) if sha else None

    return read_path


def folder_reader(folder: Path) -> Callable[[str], bytes | None]:
    """Likewise for a workspace on disk, without following links or paths that lead out."""

    def read(path: str) -> bytes | None:
        try:
            target = folder / safe_path(path.strip())
        except ValueError:
            return None
        if any(part.is_symlink() for part in (target, *target.parents) if part.is_relative_to(folder)):
            return None
        try:
            return target.read_bytes() if target.is_file() else None
        except OSError:
            return None

    return read


def safe_path(path: str) -> PurePosixPath:
    """Validate a relative path that stays inside. Raises ValueError."""
    pure = PurePosixPath(path)
    if not pure.parts or pure.is_absolute() or ".." in pure.parts or "\0" in path:
        raise ValueError(f"{path!r} does not name a file inside the workspace.")
    return pure


def _add(files: dict[str, str], added: Iterable[tuple[str, FileRef]]) -> None:
    """Each file replaces a folder at its path, and files at the paths of its parents."""
    for path, file in added:
        pure = safe_path(path)
        name = str(pure)
        for parent in list(pure.parents)[:-1]:
            files.pop(str(parent), None)
        for other in [other for other in files if other.startswith(name + "/")]:
            del files[other]
        files[name] = file.sha256


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in names:
            path = Path(root) / name
            relative = path.relative_to(folder).as_posix()
            try:
                relative.encode("utf-8")
            except UnicodeEncodeError:
                continue
            if stat.S_ISREG(path.lstat().st_mode):
                yield relative, path


def _content(path: Path, limit: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limit + 1)
    if len(content) > limit:
        raise AgentError(f"The workspace holds more than {MAX_BYTES:,} bytes.")
    return content
