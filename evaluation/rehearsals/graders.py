"""The task's grader script, run once over the turns of a rehearsal that is over, as over an agent's session."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from evaluation.grading.evidence import load_script, run_script
from evaluation.models import Rehearsal
from evaluation.protocol.history import select_calls
from evaluation.protocol.participants import InfrastructureError
from evaluation.protocol.scoring import ScoringMode
from evaluation.rehearsals.turns import call_of, graded_turns
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob

logger = logging.getLogger(__name__)
PATIENCE = timedelta(minutes=2)
"""After that without a result, nothing runs any more."""


def is_due(row: Rehearsal) -> bool:
    over = row.state == Rehearsal.State.FINISHED and bool(graded_turns(row))
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
    """``{"keys": {key: true, false or null}, "problem": why something is null or false}``"""
    persona = PersonaSpec.model_validate(row.persona_revision.spec)
    calls = [tuple(map(call_of, turn["reply"]["calls"])) for turn in graded_turns(row)]
    try:
        script = load_script(TaskSpec.model_validate(row.revision.spec), persona, Blob.objects.read)
        if script.keys is None:
            return {"keys": {}, "problem": script.problem}
        turns = run_script(script, [select_calls(calls[: end + 1], ScoringMode.STRICT) for end in range(len(calls))])
    except InfrastructureError as error:
        return {"keys": {}, "problem": str(error)}
    keys: dict[str, bool | None] = {}
    for key in script.keys:
        decided = [bool(turn.values[key]) for turn in turns if not turn.problem]
        keys[key] = any(decided) if decided else None
    return {"keys": keys, "problem": next((turn.problem for turn in turns if turn.problem), "")}


def outcomes_of(row: Rehearsal) -> Mapping[str, Any] | None:
    outcomes: Mapping[str, Any] | None = row.script_outcomes
    return outcomes


def _run(pk: int) -> None:
    try:
        run_due_script(pk)
    except Exception:  # the page offers to run it again
        logger.exception("The grader script of rehearsal %d could not be run.", pk)
    finally:
        connection.close()
