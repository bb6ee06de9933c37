"""Judging the checklist of a session in a scoring mode.

strict grades each turn with the files as they were then, and skips items met in an earlier turn. compat grades every
turn with the files as they are at the end of the episode, as the public release does. Verdicts are stored turn by
turn, so interrupted grading resumes with what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import transaction

from evaluation.grading.credit import DEFAULT_RULES, Credit
from evaluation.grading.evidence import GraderScriptSource, TurnEvidence, load_evidence, load_script, run_script
from evaluation.grading.items import GradedItem, completeness, items_of
from evaluation.grading.rule import FINAL_ONLY, RuleError, RuleEvidence, check_rule
from evaluation.models import Judging, Verdict
from evaluation.protocol.participants import Decision
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import read_texts, render_trace, select_files
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, TaskSpec
from studio.models.statements import PreparedQuery

_DECIDED = PreparedQuery(
    lambda judging: Verdict.objects.filter(judging=judging).order_by("turn").values_list("index", "turn", "met")
)


class ChecklistJudge(Protocol):
    """Judges rubric criteria. Raises InfrastructureError."""

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> tuple[Sequence[Decision], int]: ...


class _Verdicts:
    """Those of a judging so far: ``met`` by item index and turn."""

    def __init__(self, judging: Judging, hold: Callable[[], object]) -> None:
        self._hold = hold
        self._met: dict[int, dict[int, bool | None]] = defaultdict(dict)
        for index, turn, met in _DECIDED.rows(judging.pk):
            self._met[index][turn] = met

    def __getitem__(self, index: int) -> dict[int, bool | None]:
        return self._met[index]

    def store(self, rows: Sequence[Verdict]) -> None:
        if not rows:
            return
        with transaction.atomic():
            self._hold()
            Verdict.objects.bulk_create(rows)
        for row in rows:
            self._met[row.index][row.turn] = row.met


@dataclass(frozen=True)
class SessionGrade:
    items: tuple[tuple[GradedItem, Credit], ...]
    comp: float | None
    ungraded: int


def grade_session(
    judging: Judging, task: TaskSpec, persona: PersonaSpec, judge: ChecklistJudge, hold: Callable[[], object]
) -> SessionGrade:
    """Grade what is not graded yet. Raises InfrastructureError, and what ``hold`` raises.

    ``hold`` locks what this work is leased on, in the transaction that stores verdicts. compat requires that all
    conversations of the run are over.
    """
    session, mode = judging.session, ScoringMode(judging.scoring)
    assert session is not None
    script = load_script(task, persona)
    items = items_of(task, script.keys)
    if items:
        turns = load_evidence(session, mode)
        verdicts = _Verdicts(judging, hold)
        for evidence in turns:
            _grade_turn(judging, task, items, evidence, mode, judge, verdicts, last=evidence is turns[-1])
        _run_script(judging, items, script, turns, mode, verdicts)
    return compute_grade(judging, items)


def compute_grade(judging: Judging, items: Sequence[GradedItem]) -> SessionGrade:
    by_item: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    for index, turn, met in _DECIDED.rows(judging.pk) if items else ():
        by_item[index].append((turn, met))
    rule = DEFAULT_RULES[ScoringMode(judging.scoring)]
    graded = tuple((item, rule.credit([by_item[item.index]])) for item in items)
    comp = completeness([(item.weight, grade.value) for item, grade in graded])
    return SessionGrade(graded, comp, sum(grade.value is None for _, grade in graded))


def _grade_turn(
    judging: Judging,
    task: TaskSpec,
    items: Sequence[GradedItem],
    evidence: TurnEvidence,
    mode: ScoringMode,
    judge: ChecklistJudge,
    verdicts: _Verdicts,
    *,
    last: bool,
) -> None:
    every_turn = judging.round is not None and judging.round.every_turn

    def is_due(item: GradedItem) -> bool:
        turns = verdicts[item.index]
        skips = mode == ScoringMode.STRICT and not every_turn
        return evidence.number not in turns and not (skips and True in turns.values())

    rows: list[Verdict] = []
    rubric = [item for item in items if item.grader == "rubric" and is_due(item)]
    if rubric:
        criteria = [(item.index, item.criterion) for item in rubric]
        decisions, call = ask_criteria(judge, task, evidence, mode, criteria)
        rows += [
            make_verdict(judging, item, evidence.number, decision, call)
            for item, decision in zip(rubric, decisions, strict=True)
        ]
    rules = [item.rule for item in items if item.rule is not None]
    for item in items:
        final_only = item.rule is not None and item.rule.kind in FINAL_ONLY
        if item.grader == "rule" and not item.script and is_due(item) and (last or not final_only):
            rows.append(_rule_verdict(judging, item, evidence, rules))
    verdicts.store(rows)


def ask_criteria(
    judge: ChecklistJudge,
    task: TaskSpec,
    evidence: TurnEvidence,
    mode: ScoringMode,
    criteria: Sequence[tuple[int, str]],
) -> tuple[Sequence[Decision], int]:
    files = read_texts(select_files(task), evidence.read)
    trace = render_trace(evidence.messages, evidence.reply, evidence.calls, task.tool_evidence, files, mode)
    return judge(evidence.number, mode, [intent.content for intent in task.intents], trace, criteria)


def make_verdict(judging: Judging, item: GradedItem, turn: int, decision: Decision, call: int | None) -> Verdict:
    return Verdict(
        judging=judging,
        kind=Verdict.Kind.CHECKLIST,
        turn=turn,
        index=item.index,
        uid=item.uid or None,
        label="" if item.uid else item.criterion,
        grader=item.grader,
        met=decision.yes,
        quote=decision.quote,
        reason=decision.reason,
        supported=decision.supported,
        model_call_id=call,
    )


def _rule_verdict(judging: Judging, item: GradedItem, evidence: TurnEvidence, rules: Sequence[ExactCheck]) -> Verdict:
    verdict = make_verdict(judging, item, evidence.number, Decision(False), None)
    if item.rule is None:
        verdict.met, verdict.error = None, "The item should be checked by a rule but has none."
        return verdict
    try:
        result = check_rule(
            item.rule, RuleEvidence(evidence.reply, evidence.calls, evidence.read, evidence.made, rules)
        )
    except RuleError as error:
        verdict.met, verdict.error = None, str(error)
    else:
        verdict.met, verdict.quote, verdict.reason = result.met, result.quote, result.reason
        verdict.supported = bool(result.quote)
    return verdict


def _run_script(
    judging: Judging,
    items: Sequence[GradedItem],
    script: GraderScriptSource,
    turns: Sequence[TurnEvidence],
    mode: ScoringMode,
    verdicts: _Verdicts,
) -> None:
    """Run the grader script over all turns in one sandbox.

    If a call raises, every key is 0 in compat, as in the format, and the turn is ungraded in strict. If a call had to
    be stopped, the turn is ungraded in both.
    """
    keyed = [item for item in items if item.script]
    if not keyed or not turns or all(turns[-1].number in verdicts[item.index] for item in keyed):
        return
    if script.keys is None:
        row = make_verdict(judging, keyed[0], turns[-1].number, Decision(False), None)
        row.met, row.error = None, script.problem
        verdicts.store([row])
        return
    results = run_script(script, [turn.calls for turn in turns])
    rows: list[Verdict] = []
    for turn, result in zip(turns, results, strict=True):
        for item in keyed:
            if turn.number not in verdicts[item.index]:
                row = make_verdict(judging, item, turn.number, Decision(bool(result.values[item.key])), None)
                if result.broken or (result.problem and mode == ScoringMode.STRICT):
                    row.met = None
                else:
                    row.reason = f"The script gave {int(result.values[item.key])}."
                row.error = result.problem
                rows.append(row)
    verdicts.store(rows)
