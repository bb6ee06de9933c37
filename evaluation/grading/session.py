"""Grading a session in both scoring modes.

strict grades each turn with the files as they were then, and skips items met in an earlier turn. compat grades every
turn with the files as they are at the end of the episode, as the public release does. Verdicts are stored turn by
turn, so interrupted grading resumes with what is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from django.db import transaction

from evaluation.grading.evidence import GraderScriptSource, TurnEvidence, load_evidence, load_script
from evaluation.grading.items import GradedItem, ItemGrade, completeness, grade_over_turns, items_of
from evaluation.grading.rule import FINAL_ONLY, RuleError, RuleEvidence, check_rule
from evaluation.grading.script import run_grader
from evaluation.leases.sessions import lock_leased_row
from evaluation.models import Session, Verdict
from evaluation.protocol.history import tools_history
from evaluation.protocol.participants import Decision, InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.trace import read_texts, render_trace, select_files
from evaluation.sandbox import SandboxUnavailableError
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

StoredVerdicts = dict[int, dict[int, bool | None]]
"""``met`` by item index and turn."""


class ChecklistJudge(Protocol):
    """Judges rubric criteria. Raises InfrastructureError."""

    def __call__(
        self, turn: int, mode: ScoringMode, intents: Sequence[str], trace: str, criteria: Sequence[tuple[int, str]]
    ) -> tuple[Sequence[Decision], int]: ...


@dataclass(frozen=True)
class SessionGrade:
    items: tuple[tuple[GradedItem, ItemGrade], ...]
    comp: float | None
    ungraded: int


def grade_session(
    session: Session, task: TaskSpec, persona: PersonaSpec, mode: ScoringMode, judge: ChecklistJudge
) -> SessionGrade:
    """Grade what is not graded yet. Raises InfrastructureError, LeaseLostError.

    compat requires that all conversations of the run are over.
    """
    script = load_script(task, persona)
    items = items_of(task, script.keys)
    if items:
        turns = load_evidence(session, mode)
        verdicts = _load_verdicts(session, mode)
        for evidence in turns:
            _grade_turn(session, task, items, evidence, mode, judge, verdicts, last=evidence is turns[-1])
        _run_script(session, items, script, turns, mode, verdicts)
    return compute_grade(session, items, mode)


def compute_grade(session: Session, items: Sequence[GradedItem], mode: ScoringMode) -> SessionGrade:
    by_item: dict[int, list[tuple[int, bool | None]]] = defaultdict(list)
    rows = session.verdicts.filter(kind=Verdict.Kind.CHECKLIST, scoring=mode).order_by("turn")
    for index, turn, met in rows.values_list("index", "turn", "met"):
        by_item[index].append((turn, met))
    graded = tuple((item, grade_over_turns(by_item[item.index])) for item in items)
    comp = completeness([(item.weight, grade.value) for item, grade in graded])
    return SessionGrade(graded, comp, sum(grade.value is None for _, grade in graded))


def _grade_turn(
    session: Session,
    task: TaskSpec,
    items: Sequence[GradedItem],
    evidence: TurnEvidence,
    mode: ScoringMode,
    judge: ChecklistJudge,
    verdicts: StoredVerdicts,
    *,
    last: bool,
) -> None:
    def is_due(item: GradedItem) -> bool:
        turns = verdicts[item.index]
        return evidence.number not in turns and not (mode == ScoringMode.STRICT and True in turns.values())

    rows: list[Verdict] = []
    rubric = [item for item in items if item.grader == "rubric" and is_due(item)]
    if rubric:
        files = read_texts(select_files(task), evidence.read)
        trace = render_trace(evidence.messages, evidence.reply, evidence.calls, task.tool_evidence, files, mode)
        intents = [intent.content for intent in task.intents]
        criteria = [(item.index, item.criterion) for item in rubric]
        decisions, call = judge(evidence.number, mode, intents, trace, criteria)
        rows += [
            make_verdict(session, item, mode, evidence.number, decision, call)
            for item, decision in zip(rubric, decisions, strict=True)
        ]
    for item in items:
        final_only = item.rule is not None and item.rule.kind in FINAL_ONLY
        if item.grader == "rule" and not item.script and is_due(item) and (last or not final_only):
            rows.append(_rule_verdict(session, item, mode, evidence))
    _store(session, rows, verdicts)


def make_verdict(
    session: Session, item: GradedItem, mode: ScoringMode, turn: int, decision: Decision, call: int | None
) -> Verdict:
    return Verdict(
        session=session,
        kind=Verdict.Kind.CHECKLIST,
        scoring=mode,
        turn=turn,
        index=item.index,
        uid=item.uid or None,
        label=item.criterion,
        grader=item.grader,
        met=decision.yes,
        quote=decision.quote,
        reason=decision.reason,
        supported=decision.supported,
        model_call_id=call,
    )


def _rule_verdict(session: Session, item: GradedItem, mode: ScoringMode, evidence: TurnEvidence) -> Verdict:
    verdict = make_verdict(session, item, mode, evidence.number, Decision(False), None)
    if item.rule is None:
        verdict.met, verdict.error = None, "The item should be checked by a rule but has none."
        return verdict
    try:
        result = check_rule(item.rule, RuleEvidence(evidence.reply, evidence.calls, evidence.read))
    except RuleError as error:
        verdict.met, verdict.error = None, str(error)
    else:
        verdict.met, verdict.quote, verdict.reason = result.met, result.quote, result.reason
        verdict.supported = bool(result.quote)
    return verdict


def _run_script(
    session: Session,
    items: Sequence[GradedItem],
    script: GraderScriptSource,
    turns: Sequence[TurnEvidence],
    mode: ScoringMode,
    verdicts: StoredVerdicts,
) -> None:
    """Run the grader script over all turns in one sandbox.

    If a call raises, every key is 0 in compat, as in the format, and the turn is ungraded in strict. If a call had to
    be stopped, the turn is ungraded in both.
    """
    keyed = [item for item in items if item.script]
    if not keyed or not turns or all(turns[-1].number in verdicts[item.index] for item in keyed):
        return
    if script.keys is None:
        row = make_verdict(session, keyed[0], mode, turns[-1].number, Decision(False), None)
        row.met, row.error = None, script.problem
        _store(session, [row], verdicts)
        return
    try:
        _, results = run_grader(script.source, [tools_history(turn.calls) for turn in turns], keys=script.keys)
    except SandboxUnavailableError as error:
        raise InfrastructureError(f"The grader script cannot run here: {error}") from error
    rows: list[Verdict] = []
    for turn, result in zip(turns, results, strict=True):
        for item in keyed:
            if turn.number not in verdicts[item.index]:
                row = make_verdict(session, item, mode, turn.number, Decision(bool(result.values[item.key])), None)
                if result.broken or (result.problem and mode == ScoringMode.STRICT):
                    row.met = None
                else:
                    row.reason = f"The script gave {int(result.values[item.key])}."
                row.error = result.problem
                rows.append(row)
    _store(session, rows, verdicts)


def _load_verdicts(session: Session, mode: ScoringMode) -> StoredVerdicts:
    verdicts: StoredVerdicts = defaultdict(dict)
    rows = session.verdicts.filter(kind=Verdict.Kind.CHECKLIST, scoring=mode)
    for index, turn, met in rows.values_list("index", "turn", "met"):
        verdicts[index][turn] = met
    return verdicts


def _store(session: Session, rows: Sequence[Verdict], verdicts: StoredVerdicts) -> None:
    if not rows:
        return
    with transaction.atomic():
        lock_leased_row(session)
        Verdict.objects.bulk_create(rows)
    for row in rows:
        verdicts[row.index][row.turn] = row.met
