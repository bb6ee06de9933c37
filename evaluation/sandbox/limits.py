"""Limits and results of sandboxed runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 1024 * 1024

Reason = Literal["ok", "timeout", "memory", "output", "files", "killed", "crash"]


@dataclass(frozen=True)
class SandboxLimits:
    """Upper bounds of one run. Exceeding one ends the run; none can be raised from inside."""

    seconds: float = 10.0
    """Wall time of the whole run."""
    cpu_seconds: int = 10
    """CPU time of each process."""
    memory: int = 512 * MIB
    """Bytes that all processes together hold in memory; looked at from outside."""
    address_space: int = 0
    """Bytes of each process, which the kernel enforces; 0: as ``memory``. Some interpreters reserve far more than they
    hold."""
    output: int = 1 * MIB
    """Bytes of standard output, and likewise of standard error."""
    folder: int = 16 * MIB
    """Bytes that can be written below ``/ws``, the only writable place; also the size of one file."""
    files: int = 4096
    """Files, folders and links below ``/ws``, and locks on parts of files: kernel memory that no process is charged
    for."""
    processes: int = 16
    """Processes and threads at once."""
    open_files: int = 64


@dataclass(frozen=True)
class SandboxResult:
    """How a run ended, with what it printed up to then."""

    stdout: bytes
    stderr: bytes
    exit: int | None
    """Exit status as a shell gives it (128 + signal for a killed process); None: the sandbox stopped it."""
    reason: Reason
    """``ok``: exit 0. ``crash``: another status. ``killed``: by a signal. Else the limit that ended it."""
    seconds: float

    def explain(self, limits: SandboxLimits) -> str:
        """What happened, as a sentence for the person who wrote the code."""
        match self.reason:
            case "ok":
                return "It ended normally."
            case "timeout":
                return f"It was stopped: it ran longer than {round(limits.seconds, 1):g} s."
            case "memory":
                return f"It was stopped: it used more than {limits.memory // MIB} MiB of memory."
            case "output":
                return f"It was stopped: it printed more than {limits.output // 1024} KiB."
            case "files":
                return f"It was stopped: it made more than {limits.files:,} files and locks."
            case "killed":
                return f"It was killed by signal {(self.exit or 128) - 128}, as happens at a CPU or memory limit."
            case "crash":
                lines = self.stderr.decode("utf-8", "replace").strip().splitlines()
                return f"It ended with status {self.exit}" + (f": {lines[-1][:300]}" if lines else ".")
