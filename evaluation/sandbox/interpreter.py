"""Which Python runs inside."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LEFT_OUT = ("site-packages", "dist-packages", "test", "tests", "idlelib", "ensurepip", "config-*", "*.a")


@dataclass(frozen=True)
class Interpreter:
    """A Python for the sandbox."""

    program: str
    """Path inside."""
    source: str = ""
    """Folder outside that holds it; empty: it lies below ``/usr``, which is there anyway."""
    target: str = ""
    """Where that folder appears inside: where the interpreter was built to live."""


@cache
def find_interpreter() -> Interpreter:
    """The system's Python, else the one the studio runs on."""
    if os.access("/usr/bin/python3", os.X_OK):
        return Interpreter("/usr/bin/python3")
    return describe_interpreter(sys.base_prefix, f"python{sys.version_info.major}.{sys.version_info.minor}")


def describe_interpreter(prefix: str, name: str) -> Interpreter:
    """The Python ``bin/<name>`` of an installation, in a copy where its folder is closed to others."""
    prefix = os.path.realpath(prefix)
    program = f"{prefix}/bin/{name}"
    if prefix == "/usr" or prefix.startswith("/usr/"):
        return Interpreter(program)
    if os.geteuid() == 0 and not _open_to_all(prefix):
        return Interpreter(program, str(_copy(Path(prefix), name)), prefix)
    return Interpreter(program, prefix, prefix)


def _open_to_all(path: str) -> bool:
    """Whether a user who owns nothing can get there (root's home is usually closed)."""
    folders = [Path(path), *Path(path).parents]
    return all(folder.stat().st_mode & 0o001 for folder in folders)


def _copy(prefix: Path, name: str) -> Path:
    """Interpreter and standard library, made once, where the unprivileged user can read them."""
    stamp = f"{prefix}\0{(prefix / 'bin' / name).stat().st_mtime_ns}"
    shelf = Path(tempfile.gettempdir(), f"pi-bench-python-{hashlib.sha256(stamp.encode()).hexdigest()[:16]}")
    try:
        found = shelf.lstat()
    except FileNotFoundError:
        found = None
    if found is not None and found.st_uid == 0 and not found.st_mode & 0o022 and not shelf.is_symlink():
        return shelf
    making = Path(tempfile.mkdtemp(prefix="pi-bench-python-"))
    (making / "bin").mkdir()
    (making / "lib").mkdir()
    shutil.copy2(prefix / "bin" / name, making / "bin" / name)
    for library in prefix.glob("lib/libpython*.so*"):
        shutil.copy2(library, making / "lib", follow_symlinks=False)
    shutil.copytree(prefix / "lib" / name, making / "lib" / name, ignore=shutil.ignore_patterns(*LEFT_OUT))
    making.chmod(0o755)
    try:
        making.rename(shelf)
    except OSError:  # someone else was quicker, or holds the name: an own copy does as well
        return making
    return shelf
