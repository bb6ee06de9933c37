"""Grader scripts (PIBENCH.md, section 1): ``score(tools_history) -> {key: 0 or 1}``, run in the sandbox."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from evaluation.sandbox import SandboxLimits, SandboxResult, run_python

DRIVER = (Path(__file__).parent / "script_driver.py").read_bytes()
CALL_SECONDS = 5.0
"""Wall time of one call of ``score``."""

ToolHistory = Sequence[Mapping[str, Any]]
"""Items ``{"tool_name": ..., "call": {...}, "result": {...}}``."""

_known_keys: dict[str, tuple[str, ...]] = {}
_known_keys_lock = Lock()


class GraderScriptError(Exception):
    """The script returns no keys, so nothing can be graded."""


@dataclass(frozen=True)
class GraderTurn:
    """A script's result for one turn."""

    values: Mapping[str, int]
    """0 or 1 for every key, in order."""
    problem: str = ""
    """Why all values are 0, if the call failed."""
    broken: bool = False
    """The call did not end by itself (a loop, a limit), so the values are unknown."""


class GraderRun(NamedTuple):
    """A script's results for a session."""

    keys: tuple[str, ...]
    turns: tuple[GraderTurn, ...]
    """One for each history, in order."""


def grader_keys(source: str) -> tuple[str, ...]:
    """The keys of ``score([])``, in order, cached by content. Raises GraderScriptError, SandboxUnavailableError."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    with _known_keys_lock:
        if digest in _known_keys:
            return _known_keys[digest]
    answers, outcome = _run(source, [[]], None)
    keys = _keys_of(answers, outcome)
    with _known_keys_lock:
        if len(_known_keys) > 5000:
            _known_keys.clear()
        _known_keys[digest] = keys
    return keys


def run_grader(source: str, histories: Sequence[ToolHistory], *, keys: Sequence[str] | None = None) -> GraderRun:
    """Grade every turn's history in one sandbox, restarted only if a call kills it.

    Given ``keys``, the call ``score([])`` that determines them is skipped. If a turn's call fails, all its keys are 0;
    missing keys are 0 and unknown ones ignored. Raises GraderScriptError, SandboxUnavailableError.
    """
    fixed = tuple(keys) if keys is not None else None
    turns: list[GraderTurn] = []
    while fixed is None or len(turns) < len(histories):
        remaining = histories[len(turns) :]
        answers, outcome = _run(source, remaining if fixed is not None else [[], *remaining], fixed)
        if fixed is None:
            fixed = _keys_of(answers, outcome)
            del answers[0]
        turns += [_turn(fixed, answer) for answer in answers]
        if len(answers) < len(remaining):
            stopped = f"the run was stopped in this turn. {outcome.explain(_limits(len(remaining)))}"
            turns.append(_turn(fixed, {"problem": stopped, "broken": True}))
    return GraderRun(fixed, tuple(turns))


def _limits(calls: int) -> SandboxLimits:
    return SandboxLimits(seconds=5 + CALL_SECONDS * calls, cpu_seconds=int(CALL_SECONDS) + 1)


def _run(
    source: str, histories: Sequence[ToolHistory], keys: Sequence[str] | None
) -> tuple[list[dict[str, Any]], SandboxResult]:
    request = json.dumps({"histories": list(histories), "keys": keys, "seconds": CALL_SECONDS})
    files = {"main.py": DRIVER, "grader.py": source.encode("utf-8", "surrogatepass")}
    outcome = run_python(files, stdin=request.encode(), limits=_limits(len(histories)))
    answers = []
    for line in outcome.stdout.split(b"\n")[:-1][: len(histories)]:
        try:
            answer = json.loads(line)
        except ValueError:
            answer = None
        answers.append(
            answer if isinstance(answer, dict) else {"problem": "its answer was not readable", "broken": True}
        )
    return answers, outcome


def _keys_of(answers: list[dict[str, Any]], outcome: SandboxResult) -> tuple[str, ...]:
    if not answers:
        raise GraderScriptError(f"score([]) gave no answer. {outcome.explain(_limits(1))}")
    if "problem" in answers[0]:
        raise GraderScriptError(f"score([]) gave no keys: {answers[0]['problem']}.")
    keys = tuple(str(key) for key, _ in answers[0]["values"])
    if not keys:
        raise GraderScriptError("score([]) returned no keys.")
    return keys


def _turn(keys: Sequence[str], answer: Mapping[str, Any]) -> GraderTurn:
    if "problem" in answer:
        return GraderTurn(dict.fromkeys(keys, 0), str(answer["problem"]), bool(answer.get("broken")))
    values = {str(key): int(value) for key, value in answer["values"]}
    return GraderTurn({key: values.get(key, 0) for key in keys})
