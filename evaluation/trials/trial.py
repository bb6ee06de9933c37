"""One run of a grader script on one history, reported in full to its author."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.grading.script import GraderScriptError, ToolHistory, program_files, run_grader
from evaluation.sandbox import (
    SandboxLimits,
    SandboxUnavailableError,
    kernel_bounds_memory,
    run_python,
    why_unavailable,
)

__all__ = ["SandboxUnavailableError", "Trial", "kernel_bounds_memory", "try_script", "why_unavailable"]
DRIVER = (Path(__file__).parent / "trial_driver.py").read_bytes()
LIMITS = SandboxLimits(seconds=8, cpu_seconds=5, output=64 * 1024)


@dataclass(frozen=True)
class Frame:
    line: int
    function: str
    text: str
    """The line's source."""


@dataclass(frozen=True)
class Trial:
    """``values`` are the grades; empty if ``problem`` says why there are none."""

    values: Mapping[str, int]
    problem: str = ""
    frames: tuple[Frame, ...] = ()
    """Where it failed, innermost last."""
    stdout: str = ""
    stderr: str = ""
    milliseconds: int = 0

    @property
    def line(self) -> int | None:
        return self.frames[-1].line if self.frames else None


def try_script(source: str, history: ToolHistory) -> Trial:
    """Run the script on ``history``, and grade it like a turn. Raises SandboxUnavailableError, and nothing else."""
    mark = secrets.token_hex(16)
    request = json.dumps({"history": list(history), "mark": mark})
    outcome = run_python(program_files(DRIVER, source), stdin=request.encode("utf-8", "replace"), limits=LIMITS)
    out = outcome.stdout.decode("utf-8", "replace")
    printed, mark_found, result = out.rpartition(f"\n{mark}")
    report = _read_report(result) if mark_found else {}
    trial = Trial(
        {},
        stdout=_printable(printed if report else out),
        stderr=_printable(outcome.stderr.decode("utf-8", "replace")),
        milliseconds=round(float(report.get("seconds", outcome.seconds)) * 1000),
    )
    if not report:
        ended = "The script ended its process." if outcome.reason == "ok" else outcome.explain(LIMITS)
        return replace(trial, problem=ended)
    if report.get("error"):
        return replace(trial, problem=_printable(str(report["error"])), frames=_frames(report.get("frames"), source))
    try:
        [turn] = run_grader(source, [history]).turns
    except GraderScriptError as error:
        return replace(trial, problem=str(error))
    return replace(trial, values={} if turn.problem else turn.values, problem=turn.problem)


def _read_report(text: str) -> dict[str, Any]:
    try:
        report = json.loads(text)
        return report if isinstance(report, dict) and isinstance(report.get("seconds"), float) else {}
    except (ValueError, RecursionError):
        return {}


def _frames(document: object, source: str) -> tuple[Frame, ...]:
    lines = source.splitlines()
    frames = []
    for entry in document if isinstance(document, list) else []:
        match entry:
            case [int() as line, str() as function] if 1 <= line <= len(lines) + 1:
                text = lines[line - 1].strip()[:200] if line <= len(lines) else ""
                frames.append(Frame(line, _printable(function)[:100], text))
    return tuple(frames)


def _printable(text: str) -> str:
    return "".join(
        character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text[:64_000]
    )
