"""Starting processes of the studio on a data folder of their own, and finding what they left."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from studio.local.paths import CHECKOUT

OURS = ("STUDIO_", "DATABASE_URL", "CELERY_BROKER_URL", "SCRIPTED_MODEL_URL", "DJANGO_SETTINGS_MODULE", "PYTEST_")


def clean_environment(data: Path, **more: str) -> dict[str, str]:
    """The environment of somebody who never ran the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**kept, "STUDIO_DATA_DIR": str(data), "PYTHONUNBUFFERED": "1", **more}


def start(argv: list[str], data: Path, **more: str) -> subprocess.Popen[str]:
    """A Python process in the checkout whose output can be read line by line."""
    return subprocess.Popen(
        [sys.executable, *argv],
        cwd=CHECKOUT,
        env=clean_environment(data, **more),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(argv: list[str], data: Path, **more: str) -> str:
    """What a Python process in the checkout printed; it must succeed."""
    process = start(argv, data, **more)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    return output


def processes_of(data: Path) -> dict[int, str]:
    """Every process that works on this data folder, by its environment: id and command."""
    mark = b"STUDIO_DATA_DIR=" + os.fsencode(data)
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
    return found


def wait_until(true: Callable[[], object], what: str, *, seconds: float) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, f"waited {seconds} seconds for {what}"
        time.sleep(0.05)


def wait_until_all_ended(data: Path, *, seconds: float = 10) -> None:
    wait_until(lambda: not processes_of(data), f"the end of {processes_of(data)}", seconds=seconds)
