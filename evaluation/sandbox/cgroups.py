"""Memory that the kernel counts and bounds, whatever holds it: by a cgroup (v2) for each sandbox, where systemd has
delegated one to the worker (``Delegate=memory``). Elsewhere it is looked at from outside."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluation.sandbox.chain import SandboxUnavailableError
from evaluation.sandbox.limits import SandboxLimits

MOUNT = Path("/sys/fs/cgroup")
DELEGATED = "user.delegate"
"""The attribute by which systemd says so (its CGROUP_DELEGATION.md)."""
OWN = "studio"
"""Where the worker's own processes go: a cgroup has either processes or others below it."""
ENDING_SECONDS = 5.0
JOIN = ("/bin/sh", "-c", 'echo 0 > "$0" && exec "$@"')
"""Enters the cgroup before anything else is started, so that no process stays outside."""
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class MemoryGroup:
    """The cgroup of one sandbox."""

    path: Path

    @property
    def join(self) -> tuple[str, ...]:
        """The command that runs the one after it inside."""
        return (*JOIN, str(self.path / "cgroup.procs"))

    def exceeded(self) -> bool:
        """Whether the kernel has ended its processes for their memory."""
        events = dict(line.split() for line in (self.path / "memory.events").read_text().splitlines())
        return int(events["oom_kill"]) > 0

    def close(self) -> None:
        """End what still runs there. What does not end goes with the worker's unit."""
        with suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        deadline = time.monotonic() + ENDING_SECONDS
        while time.monotonic() < deadline:
            try:
                return self.path.rmdir()
            except OSError:  # a killed process takes a moment
                time.sleep(0.002)
        logger.warning("A sandbox did not end: %s", self.path)


@contextmanager
def memory_group(limits: SandboxLimits) -> Iterator[MemoryGroup | None]:
    """None where there is no delegated cgroup. Files below the writable folder are memory, too, and have a limit of
    their own. Raises SandboxUnavailableError."""
    if (place := delegated()) is None:
        yield None
        return
    group = MemoryGroup(place / f"sandbox-{os.getpid()}-{secrets.token_hex(6)}")
    try:
        group.path.mkdir()
        (group.path / "memory.oom.group").write_text("1")
        with suppress(FileNotFoundError):  # a kernel without swap
            (group.path / "memory.swap.max").write_text("0")
        (group.path / "memory.max").write_text(str(limits.memory + limits.folder))
    except OSError as error:
        with suppress(OSError):
            group.path.rmdir()
        raise SandboxUnavailableError(
            f"Its memory cannot be limited, so untrusted code is not run ({error})."
        ) from None
    try:
        yield group
    finally:
        group.close()


@cache
def delegated() -> Path | None:
    """The cgroup below which this process makes others, with their memory counted. Moves the processes that are in it
    one level down."""
    try:
        own = MOUNT / _own_path()
        place = next((place for place in (own, own.parent) if _is_delegated(place)), None)
        if place is None:
            logger.info("No cgroup is delegated: memory of sandboxed programs is looked at from outside.")
            return None
        (place / OWN).mkdir(exist_ok=True)
        while pids := (place / "cgroup.procs").read_text().split():
            for pid in pids:
                with suppress(ProcessLookupError):
                    (place / OWN / "cgroup.procs").write_text(pid)
        (place / "cgroup.subtree_control").write_text("+memory")
    except OSError as error:
        logger.warning("Memory of sandboxed programs is looked at from outside, since its cgroup fails: %s", error)
        return None
    logger.info("The kernel bounds the memory of sandboxed programs, in cgroups below %s.", place)
    return place


def _own_path() -> str:
    """Raises OSError."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next((line.removeprefix("0::/") for line in lines if line.startswith("0::")), "")


def _is_delegated(place: Path) -> bool:
    try:
        return os.getxattr(place, DELEGATED) == b"1"
    except OSError:
        return False
