"""Analysis of one script on generated histories: which keys are earned always, never, or by the wrong calls."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from evaluation.grading.script import CONFIG, GraderScriptError, GraderTurn, grader_keys, run_grader
from evaluation.sandbox import SandboxUnavailableError
from evaluation.tools import World
from evaluation.tools.plausible_calls import plausible_calls, wanted_of_script
from studio.domain.app_data import declared_apps
from studio.domain.checks.sign_ins import accounts_in
from studio.domain.graders import GraderReport, History, ScriptReading, generate_histories, read_script
from studio.domain.tool_names import tool_domain
from studio.findings.hooks import GraderKeys

FIRST_BATCH, BATCH_SIZE = 2, 8
"""Histories per sandbox. If one does not end, those after it are skipped."""
MIN_HISTORIES = 4
"""Histories that must be graded without a problem before earned keys are reported."""
LINE = re.compile(r"\bin line (\d+)\b")


def analyse_script(source: str) -> GraderReport:
    """Raises SandboxUnavailableError, and nothing else."""
    sha256 = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    try:
        keys = grader_keys(source)
        reading = read_script(source)
        histories = (*generate_histories(reading), *_plausible(reading))
        turns = _run(source, histories, keys)
    except GraderScriptError as error:
        return GraderReport(sha256=sha256, problem=str(error), line=line_of(str(error)), tried=1)
    results = list(zip(histories, turns, strict=False))
    problem = next((turn.problem for turn in turns if turn.problem), "")
    graded = [(history, turn) for history, turn in results if not turn.problem]
    if len(graded) < MIN_HISTORIES:
        return GraderReport(sha256=sha256, keys=keys, tried=len(graded), failed=problem)
    return GraderReport(
        sha256=sha256,
        keys=keys,
        tried=len(graded),
        failed=problem,
        always=tuple(key for key in keys if all(turn.values[key] for _, turn in graded)),
        never=() if CONFIG in source else _never(keys, graded),
        by_draft=_earned(keys, graded, "draft"),
        by_anyone=_earned(keys, graded, "stranger"),
    )


def _plausible(reading: ScriptReading) -> Iterator[History]:
    """What an agent might do in apps that hold their examples."""
    used = {tool_domain(tool) for tool in reading.tool_names}
    examples = {app: app_card.read(None).example for app, app_card in declared_apps().items() if app in used}
    if examples:
        accounts = {app: accounts_in(example) or {} for app, example in examples.items()}
        sign_ins = [(app, *each) for app, known in accounts.items() for each in known.items() if each[1]]
        world = World({app: example.encode() for app, example in examples.items()})
        calls = plausible_calls(wanted_of_script(reading), sign_ins, world)
        yield History("plausible", "what an agent might do", tuple(call.for_graders() for call in calls))


def line_of(problem: str) -> int | None:
    match = LINE.search(problem)
    return int(match[1]) if match else None


def _run(source: str, histories: Sequence[History], keys: Sequence[str]) -> list[GraderTurn]:
    turns: list[GraderTurn] = []
    while len(turns) < len(histories) and not any(turn.broken for turn in turns):
        batch = histories[len(turns) : len(turns) + (BATCH_SIZE if turns else FIRST_BATCH)]
        turns += run_grader(source, [history.calls for history in batch], keys=keys).turns
    return turns


def _never(keys: Sequence[str], graded: Sequence[tuple[History, GraderTurn]]) -> tuple[str, ...]:
    return tuple(key for key in keys if not any(turn.values[key] for _, turn in graded))


def _earned(keys: Sequence[str], graded: Sequence[tuple[History, GraderTurn]], kind: str) -> tuple[str, ...]:
    return tuple(key for key in keys if any(turn.values[key] for history, turn in graded if history.kind == kind))


def count_keys(script: bytes) -> GraderKeys:
    """The keys that ``score([])`` returns, or the problem. Never raises."""
    try:
        return GraderKeys(keys=grader_keys(script.decode("utf-8")))
    except UnicodeDecodeError:
        return GraderKeys(problem="The script is not UTF-8 text.")
    except (GraderScriptError, SandboxUnavailableError) as error:
        return GraderKeys(problem=str(error))
