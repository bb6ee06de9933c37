"""Folders on disk in which agents work; those of killed processes are swept."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "pi-bench-workspace-"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """An empty folder, removed at the end. It is locked as long as this process lives, however that ends."""
    folder, lock = _make_locked()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def sweep_folders() -> int:
    """Remove the folders whose process is gone; returns how many. Safe beside running workers."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
            removed += 1
        except OSError:  # in use, or another user's
            continue
        finally:
            os.close(lock)
    return removed


def _make_locked() -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            continue  # a sweep took it before it was locked
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            return folder, lock
        os.close(lock)
