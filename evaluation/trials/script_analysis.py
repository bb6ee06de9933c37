"""One script on generated histories: which keys are earned by nothing, by anything, by the wrong thing."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from evaluation.grading.script import GraderScriptError, GraderTurn, grader_keys, run_grader
from studio.domain.graders import GraderReport, History, generate_histories, read_script

AT_FIRST, AT_ONCE = 2, 8
"""Histories in one start of the sandbox: where one of them comes to no end, those after it are left out."""
ENOUGH = 4
"""Histories that have to end well before anything is said of what they earned."""
LINE = re.compile(r"\bin line (\d+)\b")


def analyse_script(source: str) -> GraderReport:
    """What running the script shows. Raises SandboxUnavailableError, and nothing else."""
    sha256 = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        keys = grader_keys(source)
        histories = generate_histories(read_script(source))
        turns = _run(source, histories, keys)
    except GraderScriptError as broken:
        return GraderReport(sha256=sha256, problem=str(broken), line=line_of(str(broken)), tried=1)
    tried = list(zip(histories, turns, strict=False))
    problem = next((turn.problem for turn in turns if turn.problem), "")
    sound = [(history, turn) for history, turn in tried if not turn.problem]
    if len(sound) < ENOUGH:
        return GraderReport(sha256=sha256, keys=keys, tried=len(sound), failed=problem)
    return GraderReport(
        sha256=sha256,
        keys=keys,
        tried=len(sound),
        failed=problem,
        always=tuple(key for key in keys if all(turn.values[key] for _, turn in sound)),
        never=tuple(key for key in keys if not any(turn.values[key] for _, turn in sound)),
        by_draft=_earned(keys, sound, "draft"),
        by_anyone=_earned(keys, sound, "stranger"),
    )


def line_of(problem: str) -> int | None:
    """The line of the script that a problem is in, if its text names one."""
    found = LINE.search(problem)
    return int(found[1]) if found else None


def _run(source: str, histories: Sequence[History], keys: Sequence[str]) -> list[GraderTurn]:
    turns: list[GraderTurn] = []
    while len(turns) < len(histories) and not any(turn.broken for turn in turns):
        some = histories[len(turns) : len(turns) + (AT_ONCE if turns else AT_FIRST)]
        turns += run_grader(source, [history.calls for history in some], keys=keys).turns
    return turns


def _earned(keys: Sequence[str], sound: Sequence[tuple[History, GraderTurn]], kind: str) -> tuple[str, ...]:
    return tuple(key for key in keys if any(turn.values[key] for history, turn in sound if history.kind == kind))
