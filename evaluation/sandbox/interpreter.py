"""The Python interpreter inside the sandbox, and folders of this machine that its user can read."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

EXCLUDED = ("site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip", "config-*", "*.a")


@dataclass(frozen=True)
class Interpreter:
    program: str
    """Path inside the sandbox."""
    source: str = ""
    """Host folder to bind; empty: the program lies below ``/usr``, which is bound anyway."""
    target: str = ""
    """Path of that folder inside: the prefix the interpreter was built for."""


@cache
def find_interpreter() -> Interpreter:
    """The system's Python, else the one the studio runs on."""
    if os.access("/usr/bin/python3", os.X_OK):
        return Interpreter("/usr/bin/python3")
    return describe_interpreter(sys.base_prefix, f"python{sys.version_info.major}.{sys.version_info.minor}")


def describe_interpreter(prefix: str, name: str) -> Interpreter:
    """The Python ``bin/<name>`` of an installation; a copy of it if other users cannot read the folder."""
    prefix = os.path.realpath(prefix)
    program = f"{prefix}/bin/{name}"
    if prefix == "/usr" or prefix.startswith("/usr/"):
        return Interpreter(program)
    if os.geteuid() == 0 and not _open_to_all(prefix):
        return Interpreter(program, str(_copy_interpreter(Path(prefix), name)), prefix)
    return Interpreter(program, prefix, prefix)


def readable_by_all(folder: Path) -> Path:
    """The folder, or as root a copy of it if other users cannot read it there: the user in the sandbox is another."""
    if os.geteuid() != 0 or _open_to_all(str(folder)):
        return folder
    return _copy(folder, lambda draft: shutil.copytree(folder, draft, dirs_exist_ok=True))


def _open_to_all(path: str) -> bool:
    """Whether every user can enter the folder (root's home is usually closed)."""
    folders = [Path(path), *Path(path).parents]
    return all(folder.stat().st_mode & 0o001 for folder in folders)


def _copy_interpreter(prefix: Path, name: str) -> Path:
    def fill(draft: Path) -> None:
        (draft / "bin").mkdir()
        (draft / "lib").mkdir()
        shutil.copy2(prefix / "bin" / name, draft / "bin" / name)
        for library in prefix.glob("lib/libpython*.so*"):
            shutil.copy2(library, draft / "lib", follow_symlinks=False)
        shutil.copytree(prefix / "lib" / name, draft / "lib" / name, ignore=shutil.ignore_patterns(*EXCLUDED))

    return _copy(prefix / "bin" / name, fill)


def _copy(original: Path, fill: Callable[[Path], object]) -> Path:
    """What ``fill`` puts into a folder, once, where the unprivileged user can read it, until the original changes."""
    stamp = f"{original}\0{original.stat().st_mtime_ns}"
    target = Path(tempfile.gettempdir(), f"pi-bench-copy-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}")
    try:
        status = target.lstat()
    except FileNotFoundError:
        status = None
    if status is not None and status.st_uid == 0 and not status.st_mode & 0o022 and not target.is_symlink():
        return target
    draft = Path(tempfile.mkdtemp(prefix="pi-bench-copy-"))
    fill(draft)
    draft.chmod(0o755)
    try:
        draft.rename(target)
    except OSError:  # another process was quicker or holds the name: a copy of our own works as well
        return draft
    return target
