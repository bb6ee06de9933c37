"""One run of a grader script on one history, told in full to the person who writes it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.grading.script import GraderScriptError, ToolHistory, run_grader
from evaluation.sandbox import SandboxLimits, run_python

DRIVER = (Path(__file__).parent / "trial_driver.py").read_bytes()
LIMITS = SandboxLimits(seconds=8, cpu_seconds=5, output=64 * 1024)


@dataclass(frozen=True)
class Frame:
    line: int
    function: str
    text: str
    """The line, as the script has it."""


@dataclass(frozen=True)
class Trial:
    """How it went. ``values`` are what grading would take; empty where ``problem`` says why there are none."""

    values: Mapping[str, int]
    problem: str = ""
    frames: tuple[Frame, ...] = ()
    """Where it went wrong, the innermost last."""
    stdout: str = ""
    stderr: str = ""
    milliseconds: int = 0

    @property
    def line(self) -> int | None:
        return self.frames[-1].line if self.frames else None


def try_script(source: str, history: ToolHistory) -> Trial:
    """Run it on ``history`` and grade it as a turn would be. Raises SandboxUnavailableError, and nothing else."""
    mark = secrets.token_hex(16)
    wanted = json.dumps({"history": list(history), "mark": mark})
    files = {"main.py": DRIVER, "grader.py": source.encode("utf-8", "surrogatepass")}
    outcome = run_python(files, stdin=wanted.encode("utf-8", "replace"), limits=LIMITS)
    out = outcome.stdout.decode("utf-8", "replace")
    printed, found, last = out.rpartition(f"\n{mark}")
    said = _said(last) if found else {}
    ran = Trial(
        {},
        stdout=_shown(printed if said else out),
        stderr=_shown(outcome.stderr.decode("utf-8", "replace")),
        milliseconds=round(float(said.get("seconds", outcome.seconds)) * 1000),
    )
    if not said:
        ended = "The script ended its process." if outcome.reason == "ok" else outcome.explain(LIMITS)
        return replace(ran, problem=ended)
    if said.get("error"):
        return replace(ran, problem=_shown(str(said["error"])), frames=_frames(said.get("frames"), source))
    try:
        [turn] = run_grader(source, [history]).turns
    except GraderScriptError as broken:
        return replace(ran, problem=str(broken))
    return replace(ran, values={} if turn.problem else turn.values, problem=turn.problem)


def _said(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
        return said if isinstance(said, dict) and isinstance(said.get("seconds"), float) else {}
    except ValueError:
        return {}


def _frames(said: object, source: str) -> tuple[Frame, ...]:
    lines = source.splitlines()
    found = []
    for each in said if isinstance(said, list) else []:
        match each:
            case [int() as line, str() as function] if 1 <= line <= len(lines) + 1:
                text = lines[line - 1].strip()[:200] if line <= len(lines) else ""
                found.append(Frame(line, _shown(function)[:100], text))
    return tuple(found)


def _shown(text: str) -> str:
    """Without what no page shows: control characters but line ends and tabs."""
    return "".join(letter if letter.isprintable() or letter in "\n\t" else "\ufffd" for letter in text[:64_000])
