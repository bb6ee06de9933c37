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
    """The script gives no keys, so nothing can be graded with it. The text says what happened."""


@dataclass(frozen=True)
class GraderTurn:
    """What a script said of one turn."""

    values: Mapping[str, int]
    """0 or 1 for every key, in their order."""
    problem: str = ""
    """Why all values are 0, if the call failed."""
    broken: bool = False
    """The call came to no end of its own (a loop, a limit): the format has no word for that, so nothing is known."""


class GraderRun(NamedTuple):
    """What a script said of a session."""

    keys: tuple[str, ...]
    turns: tuple[GraderTurn, ...]
    """One for each history, in their order."""


def grader_keys(source: str) -> tuple[str, ...]:
    """The keys of ``score([])``, in order. Raises GraderScriptError, SandboxUnavailableError. Remembered by content."""
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
    """Grade every turn's history, in one start of the sandbox unless a call brings that down.

    ``keys`` known from before spare the call that fixes them, ``score([])``. A turn whose call fails
    has every key 0; keys that are missing are 0, others are ignored. Raises GraderScriptError,
    SandboxUnavailableError.
    """
    fixed = tuple(keys) if keys is not None else None
    turns: list[GraderTurn] = []
    while fixed is None or len(turns) < len(histories):
        waiting = histories[len(turns) :]
        answers, outcome = _run(source, waiting if fixed is not None else [[], *waiting], fixed)
        if fixed is None:
            fixed = _keys_of(answers, outcome)
            del answers[0]
        turns += [_turn(fixed, answer) for answer in answers]
        if len(answers) < len(waiting):
            stopped = f"the run was stopped in this turn. {outcome.explain(_limits(len(waiting)))}"
            turns.append(_turn(fixed, {"problem": stopped, "broken": True}))
    return GraderRun(fixed, tuple(turns))


def _limits(calls: int) -> SandboxLimits:
    return SandboxLimits(seconds=5 + CALL_SECONDS * calls, cpu_seconds=int(CALL_SECONDS) + 1)


def _run(
    source: str, histories: Sequence[ToolHistory], keys: Sequence[str] | None
) -> tuple[list[dict[str, Any]], SandboxResult]:
    """One answer for each history the driver got to, each with ``values`` or ``problem``."""
    wanted = json.dumps({"histories": list(histories), "keys": keys, "seconds": CALL_SECONDS})
    files = {"main.py": DRIVER, "grader.py": source.encode("utf-8", "surrogatepass")}
    outcome = run_python(files, stdin=wanted.encode(), limits=_limits(len(histories)))
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
    said = {str(key): int(value) for key, value in answer["values"]}
    return GraderTurn({key: said.get(key, 0) for key in keys})
