"""Model work in a rehearsal: answering as the assistant, judging intents, proposing decisions.

A user is waiting, so it runs in a thread of the web process instead of the queue. The row records that a model is
working, so every window shows the same state. The lease reveals work whose process died, which can then be resumed;
recorded model answers are not paid for twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from evaluation.call_records import CallRecord, CallRecorder, RecordOwnerDeletedError, rehearsal_record
from evaluation.engine.conversation import hear
from evaluation.engine.journal import MadeCalls, NoMadeCalls
from evaluation.engine.plan import AgentSeat, SessionPlan
from evaluation.engine.store import Checkpoint, Standing
from evaluation.grading.intents import intents_decided
from evaluation.grading.judges import ModelIntentJudge
from evaluation.grading.work import Conversation
from evaluation.judging.judgings import open_rehearsal_judging, versions_of
from evaluation.leases import renewing
from evaluation.llm import Call
from evaluation.model_access import endpoint_of, lane_of
from evaluation.models import Rehearsal
from evaluation.models.leased import LeaseLostError, lease_end
from evaluation.protocol.participants import AgentError, InfrastructureError
from evaluation.rehearsals.grading import run_due_script
from evaluation.rehearsals.turns import (
    checkpoint_of,
    current_turn,
    played_turns,
    progress_of,
    replied_in,
    resolve_current_turn,
    with_turn,
)
from evaluation.store.plans import bound_servers
from evaluation.store.verdicts import JudgeOnRecord
from evaluation.workspaces.manifests import MissingContentError
from studio.domain.opening_message import text_of
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob
from studio.personas.tool_servers import policy

logger = logging.getLogger(__name__)
State = Rehearsal.State
LEASE_EXPIRED = "The studio stopped while the model was working. Nothing is lost. Try again."


def start_model_work(rehearsal: Rehearsal) -> None:
    """Starts when the transaction commits."""
    Rehearsal.objects.filter(pk=rehearsal.pk).update(
        state=State.WORKING, reason="", claimed_by="", lease_until=lease_end(), updated_at=timezone.now()
    )
    transaction.on_commit(
        lambda: threading.Thread(target=_run, args=(rehearsal.pk,), name="rehearsal", daemon=True).start(),
        robust=True,
    )


def stop_if_lease_expired(rehearsal: Rehearsal) -> None:
    dead = Rehearsal.objects.filter(pk=rehearsal.pk, state=State.WORKING, lease_until__lt=timezone.now())
    if dead.update(**_failure(rehearsal, LEASE_EXPIRED)):
        rehearsal.refresh_from_db()


def cancel_model_work(rehearsal: Rehearsal) -> None:
    """Return the turn to the user. A later model answer is not stored."""
    Rehearsal.objects.filter(pk=rehearsal.pk, state=State.WORKING).update(
        **_failure(rehearsal, "You cancelled the request to the model.")
    )


def work_on(pk: int) -> None:
    """Do the model work that is due. Safe to call twice."""
    token = Rehearsal.objects.filter(state=State.WORKING, claimed_by="").claim(pk)
    rows = Rehearsal.objects.select_related("revision", "persona_revision", "agent", "judge")
    rehearsal = rows.filter(claimed_by=token).first() if token else None
    if rehearsal is None:
        return
    with renewing(rehearsal):
        try:
            _work(rehearsal)
            run_due_script(pk)
        except (LeaseLostError, RecordOwnerDeletedError):
            logger.info("Rehearsal %d was cancelled or deleted.", pk)
        except (InfrastructureError, MissingContentError) as error:
            rehearsal.held().update(**_failure(rehearsal, str(error)))
        except Exception as error:
            logger.exception("Rehearsal %d failed with an internal error.", pk)
            connection.close_if_unusable_or_obsolete()
            rehearsal.held().update(**_failure(rehearsal, f"Internal error: {type(error).__name__}: {error}"))


def changes_after_turn(row: Rehearsal, checkpoint: Checkpoint) -> dict[str, Any]:
    progress = checkpoint.after
    changes: dict[str, Any] = {
        "turns": with_turn(row, checkpoint),
        "current_turn": {},
        "message": text_of(progress.message),
    }
    if progress.ending:
        changes |= {
            "state": State.FINISHED,
            "reason": ""
            if progress.ending == "resolved"
            else f"It ended after {progress.turns} turns, the limit for every session.",
        }
    return changes


def _work(row: Rehearsal) -> None:
    task = TaskSpec.model_validate(row.revision.spec)
    record = rehearsal_record(row)
    if replied_in(row) is None and not _hear(row, task, record):
        return
    if row.judge is None:
        _write(row, state=State.YOURS, claimed_by="", lease_until=None)
        return
    judging = open_rehearsal_judging(row, row.judge)
    judge = ModelIntentJudge(JudgeOnRecord(judging, record), versions_of(judging), len(row.turns) + 1)
    taken, after = resolve_current_turn(row, task, judge)
    decided = intents_decided(judge.calls, task, taken)
    changes: dict[str, Any] = {"state": State.YOURS, "claimed_by": "", "lease_until": None}
    if row.seat == Rehearsal.Seat.AGENT:
        changes |= changes_after_turn(row, checkpoint_of(row, taken, after, decided))
    else:
        changes["current_turn"] = current_turn(replied_in(row), decided)
    _write(row, **changes)


def _hear(row: Rehearsal, task: TaskSpec, record: CallRecord) -> bool:
    """Let the agent reply; False if it failed."""
    conversation = Conversation(task, row.start_manifest, played_turns(row))
    standing = Standing(progress_of(row, task), row.manifest, row.apps, conversation, record.restore(row.agent_state))
    try:
        replied = hear(_plan(row, task), RehearsalStore(row, record), standing)
    except AgentError as error:
        _write(row, state=State.FINISHED, reason=f"The assistant failed: {error}", claimed_by="")
        return False
    row.agent_state = record.shorten(replied.reply.state)
    row.current_turn = current_turn(replace(replied, reply=replace(replied.reply, state={})))
    row.manifest, row.apps = dict(replied.files), dict(replied.apps)
    fields = ("current_turn", "agent_state", "manifest", "apps")
    _write(row, **{name: getattr(row, name) for name in fields})
    return True


def _plan(row: Rehearsal, task: TaskSpec) -> SessionPlan:
    persona = PersonaSpec.model_validate(row.persona_revision.spec)
    assert row.agent is not None
    agent = endpoint_of(row.agent)
    return SessionPlan(
        name=f"rehearsal-{row.pk}",
        task=task,
        persona=persona,
        agent=AgentSeat(agent),
        user=agent,
        judge=agent,
        prompts={},
        servers=bound_servers(persona),
        server_policy=policy(),
        lane=lane_of(f"rehearsal {row.pk}"),
    )


@dataclass(frozen=True)
class RehearsalStore:
    """``evaluation.engine.store.TurnStore``, for the agent's part of a turn."""

    row: Rehearsal
    record: CallRecord
    made: MadeCalls = field(default_factory=NoMadeCalls)
    read = staticmethod(Blob.objects.read)
    keep = staticmethod(Blob.objects.store)

    def answer(self, request_hash: str) -> Mapping[str, Any] | None:
        return self.record.answer(request_hash)

    def check(self, purpose: str) -> None:
        self.record.before_sending()

    def call(self, call: Call, purpose: str, turn: int) -> None:
        assert self.row.agent is not None
        CallRecorder(self.record, self.row.agent, purpose, lambda: turn, None).record(call)


def _write(rehearsal: Rehearsal, **changes: Any) -> None:
    rehearsal.write(updated_at=timezone.now(), **changes)


def _failure(rehearsal: Rehearsal, reason: str) -> dict[str, Any]:
    """Fields after an infrastructure failure. If the agent has replied, the user can decide manually."""
    answered = rehearsal.seat == Rehearsal.Seat.USER and "replied" in rehearsal.current_turn
    return {
        "state": State.YOURS if answered else State.STOPPED,
        "reason": storable(reason)[:2000],
        "claimed_by": "",
        "lease_until": None,
        "updated_at": timezone.now(),
    }


def _run(pk: int) -> None:
    try:
        work_on(pk)
    except Exception:  # the lease expires, and the page says so
        logger.exception("Rehearsal %d could not be worked on.", pk)
    finally:
        connection.close()
