"""Judging the checklist of a session in a scoring mode.

strict grades each turn with the files as they were then, and skips items met in an earlier turn. compat grades every
turn with the files as they are at the end of the episode, as the public release does. Decisions come turn by turn, so
that interrupted grading resumes with what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from evaluation.grading.credit import DEFAULT_RULES, Credit
from evaluation.grading.decided import Decided, Known, judged
from evaluation.grading.evidence import GraderScriptSource, TurnEvidence, run_script
from evaluation.grading.items import GradedItem, completeness, items_of
from evaluation.grading.judges import Answer
from evaluation.grading.rule import FINAL_ONLY, RuleError, RuleEvidence, check_rule
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import read_texts, render_trace, select_files
from studio.domain.task import ExactCheck, TaskSpec


class ChecklistJudge(Protocol):
    """Judges rubric criteria. Raises InfrastructureError."""

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> Answer: ...


@dataclass(frozen=True)
class Checklist:
    """What is graded, and on what."""

    task: TaskSpec
    script: GraderScriptSource
    turns: Sequence[TurnEvidence]
    """In compat, all conversations of the run must be over."""
    mode: ScoringMode
    every_turn: bool = False
    """Whether strict items are judged in later turns too, after they were met."""
    with_files: bool = False
    """Whether the grader script finds the workspace."""

    @property
    def items(self) -> tuple[GradedItem, ...]:
        return items_of(self.task, self.script.keys)


@dataclass(frozen=True)
class SessionGrade:
    items: tuple[tuple[GradedItem, Credit], ...]
    comp: float | None
    ungraded: int


def decide_checklist(checklist: Checklist, judge: ChecklistJudge | None, known: Known) -> Iterator[list[Decided]]:
    """Decide what is not known yet: the items of each turn, then the keys of the grader script over all of them. Each
    list is to be stored before the next is asked for. ``judge``: None where there are no rubric criteria. Raises
    InfrastructureError.
    """
    met: dict[int, dict[int, bool | None]] = defaultdict(dict)
    for (_, turn, index), value in known.items():
        met[index][turn] = value
    for evidence in checklist.turns:
        skips = checklist.mode == ScoringMode.STRICT and not checklist.every_turn
        due = [
            item
            for item in checklist.items
            if evidence.number not in met[item.index] and not (skips and True in met[item.index].values())
        ]
        if decided := [*_judge_rubric(checklist, judge, evidence, due), *_check_rules(checklist, evidence, due)]:
            for each in decided:
                met[each.index][each.turn] = each.met
            yield decided
    keyed = [item for item in checklist.items if item.script]
    last = checklist.turns[-1].number if checklist.turns else 0
    if last and any(last not in met[item.index] for item in keyed):
        decided = _run_script(checklist, keyed)
        yield [each for each in decided if each.turn not in met[each.index]]


def grade(checklist: Checklist, known: Known) -> SessionGrade:
    by_item: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    for (_, turn, index), met in sorted(known.items(), key=lambda row: row[0][1]):
        by_item[index].append((turn, met))
    rule = DEFAULT_RULES[checklist.mode]
    graded = tuple((item, rule.credit([by_item[item.index]])) for item in checklist.items)
    comp = completeness([(item.weight, credit.value) for item, credit in graded])
    return SessionGrade(graded, comp, sum(credit.value is None for _, credit in graded))


def ask_criteria(
    judge: ChecklistJudge,
    task: TaskSpec,
    evidence: TurnEvidence,
    mode: ScoringMode,
    criteria: Sequence[tuple[int, str]],
) -> Answer:
    files = read_texts(select_files(task), evidence.read)
    trace = render_trace(evidence.messages, evidence.reply, evidence.calls, task.tool_evidence, files, mode)
    return judge(evidence.number, mode, [intent.content for intent in task.intents], trace, criteria)


def _judge_rubric(
    checklist: Checklist, judge: ChecklistJudge | None, evidence: TurnEvidence, due: Sequence[GradedItem]
) -> Iterator[Decided]:
    if rubric := [item for item in due if item.grader == "rubric"]:
        assert judge is not None
        criteria = [(item.index, item.criterion) for item in rubric]
        decisions, call = ask_criteria(judge, checklist.task, evidence, checklist.mode, criteria)
        for item, decision in zip(rubric, decisions, strict=True):
            label = "" if item.uid else item.criterion
            yield judged(("checklist", evidence.number, item.index), decision, call, uid=item.uid, label=label)


def _check_rules(checklist: Checklist, evidence: TurnEvidence, due: Sequence[GradedItem]) -> Iterator[Decided]:
    rules = [item.rule for item in checklist.items if item.rule is not None]
    last = evidence is checklist.turns[-1]
    for item in due:
        final_only = item.rule is not None and item.rule.kind in FINAL_ONLY
        if item.grader == "rule" and not item.script and (last or not final_only):
            yield _check_rule(item, evidence, rules)


def _check_rule(item: GradedItem, evidence: TurnEvidence, rules: Sequence[ExactCheck]) -> Decided:
    decided = _by_rule(item, evidence.number)
    if item.rule is None:
        return replace(decided, error="The item should be checked by a rule but has none.")
    seen = RuleEvidence(evidence.reply, evidence.calls, evidence.read, evidence.made, rules)
    try:
        result = check_rule(item.rule, seen)
    except RuleError as error:
        return replace(decided, error=str(error))
    return replace(decided, met=result.met, quote=result.quote, reason=result.reason, supported=bool(result.quote))


def _run_script(checklist: Checklist, keyed: Sequence[GradedItem]) -> list[Decided]:
    """Run the grader script over all turns in one sandbox.

    If a call raises, every key is 0 in compat, as in the format, and the turn is ungraded in strict. If a call had to
    be stopped, the turn is ungraded in both.
    """
    script = checklist.script
    if script.keys is None:
        return [replace(_by_rule(keyed[0], checklist.turns[-1].number), error=script.problem)]
    decided = []
    results = run_script(script, checklist.turns, with_files=checklist.with_files)
    for turn, result in zip(checklist.turns, results, strict=True):
        unknown = result.broken or (result.problem and checklist.mode == ScoringMode.STRICT)
        for item in keyed:
            value = result.values[item.key]
            met, reason = (None, "") if unknown else (bool(value), f"The script gave {int(value)}.")
            decided.append(replace(_by_rule(item, turn.number), met=met, reason=reason, error=result.problem))
    return decided


def _by_rule(item: GradedItem, turn: int) -> Decided:
    """Ungraded, so far."""
    return Decided("checklist", turn, item.index, "rule", None, uid=item.uid, label="" if item.uid else item.criterion)
