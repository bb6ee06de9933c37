"""Processes of a studio on its own data folder: starting and finding them."""

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
    """The environment without the test run's own variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return {**inherited, "STUDIO_DATA_DIR": str(data), "PYTHONUNBUFFERED": "1", **more}


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
    """Run a Python process that must succeed, and return its output."""
    process = start(argv, data, **more)
    output, _ = process.communicate(timeout=150)
    assert process.returncode == 0, output
    return output


def processes_of(data: Path) -> dict[int, str]:
    """Command lines, by pid, of the processes whose environment names this data folder."""
    mark = b"STUDIO_DATA_DIR=" + os.fsencode(data)
    commands = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
    return commands


def wait_until(condition: Callable[[], object], what: str, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} seconds for {what}"
        time.sleep(0.05)


def wait_until_all_ended(data: Path, *, seconds: float = 60) -> None:
    wait_until(lambda: not processes_of(data), f"the end of {processes_of(data)}", seconds=seconds)
