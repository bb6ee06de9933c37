"""The rules of a task, and its grader script once a rehearsal is over, as over an agent's session."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from evaluation.grading.decided import Decided
from evaluation.grading.evidence import GraderScriptSource, evidence_of, load_script
from evaluation.grading.session import Checklist, SessionGrade, decide_checklist, grade
from evaluation.grading.work import Conversation
from evaluation.models import Rehearsal
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.protocol.versions import ProtocolName
from evaluation.rehearsals.turns import played_turns
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob

logger = logging.getLogger(__name__)
PATIENCE = timedelta(minutes=2)
"""After that without a result, nothing runs any more."""


NO_SCRIPT = GraderScriptSource()


@dataclass(frozen=True)
class RuleOutcome:
    criterion: str
    met: bool | None
    """None: the rule is incomplete, or its script failed."""
    reason: str


def is_due(row: Rehearsal) -> bool:
    over = row.state == Rehearsal.State.FINISHED and bool(played_turns(row))
    return over and row.script_outcomes is None and bool(row.revision.spec.get("grader_script"))


def is_running(row: Rehearsal) -> bool:
    return is_due(row) and row.updated_at > timezone.now() - PATIENCE


def start_script(row: Rehearsal) -> None:
    """Starts when the transaction commits, if there is anything to run."""
    if is_due(row):
        Rehearsal.objects.filter(pk=row.pk).update(updated_at=timezone.now())
        transaction.on_commit(
            lambda: threading.Thread(target=_run, args=(row.pk,), name="rehearsal-grader", daemon=True).start(),
            robust=True,
        )


def run_due_script(pk: int) -> None:
    """Safe to call twice: the same calls give the same outcomes."""
    row = Rehearsal.objects.select_related("revision", "persona_revision").get(pk=pk)
    if is_due(row):
        outcomes = storable(_outcomes(row))
        Rehearsal.objects.filter(pk=pk).update(script_outcomes=outcomes, updated_at=timezone.now())


def _outcomes(row: Rehearsal) -> dict[str, Any]:
    """``{"keys": {key: true, false or null}, "problem": why something is null}``"""
    task = TaskSpec.model_validate(row.revision.spec)
    try:
        script = load_script(task, PersonaSpec.model_validate(row.persona_revision.spec), Blob.objects.read)
        if script.keys is None:
            return {"keys": {}, "problem": script.problem}
        keys, decided = _decide(row, task.model_copy(update={"checklist": ()}), script)
    except InfrastructureError as error:
        return {"keys": {}, "problem": str(error)}
    problem = next((each.error for each in decided if each.error), "")
    return {"keys": {item.key: credit.value for item, credit in keys.items}, "problem": problem}


def rule_outcomes(row: Rehearsal, task: TaskSpec) -> tuple[RuleOutcome, ...]:
    """Those of the checklist, after the finished turns; none before the first."""
    checked = tuple(item for item in task.checklist if item.grader == "rule" and item.rule is not None)
    grade, decided = _decide(row, task.model_copy(update={"checklist": checked, "grader_script": ""}))
    latest = {each.index: each for each in decided}
    return tuple(
        RuleOutcome(item.criterion, credit.value, latest[item.index].reason or latest[item.index].error)
        for item, credit in grade.items
        if item.index in latest
    )


def script_outcomes(row: Rehearsal) -> tuple[RuleOutcome, ...]:
    """Those of the grader script's keys, once it ran."""
    keys = (row.script_outcomes or {}).get("keys", {})
    said = {True: "The script gave 1.", False: "The script gave 0 in every turn.", None: "The script failed."}
    return tuple(RuleOutcome(f"[tools] {key}", met, said[met]) for key, met in keys.items())


def _decide(
    row: Rehearsal, task: TaskSpec, script: GraderScriptSource = NO_SCRIPT
) -> tuple[SessionGrade, list[Decided]]:
    """As an agent's session is graded (strict), by rules and the script alone. Raises InfrastructureError."""
    conversation = Conversation(task, row.start_manifest, played_turns(row))
    evidence = evidence_of(conversation, ScoringMode.STRICT, Blob.objects.read)
    checklist = Checklist(task, script, evidence, ScoringMode.STRICT, ProtocolName.PAPER)
    decided = [each for found in decide_checklist(checklist, None, {}) for each in found]
    return grade(checklist, {each.place: each.met for each in decided}), decided


def _run(pk: int) -> None:
    try:
        run_due_script(pk)
    except Exception:  # the page offers to run it again
        logger.exception("The grader script of rehearsal %d could not be run.", pk)
    finally:
        connection.close()
