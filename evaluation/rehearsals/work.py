"""What models do in a rehearsal: answer as the assistant, settle intents, propose. In a thread of this process.

A person waits for it, so it goes no way round over the queue, and needs no worker. The row says that a model is at
work, so that a page loaded again, or in another window, shows the same. Work whose process is gone is noticed by its
lease, and can be begun again: what a model has answered is on record and not paid for twice.
"""

from __future__ import annotations

import logging
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from evaluation.agents import AgentSetup, make_agent
from evaluation.call_records import CallRecord, RecordOwnerDeletedError, rehearsal_record
from evaluation.grading.judges import ModelIntentJudge
from evaluation.leases.heartbeat import heartbeat, lease_end
from evaluation.models import Rehearsal
from evaluation.pilots.participants import agent_limits
from evaluation.protocol.participants import AgentError, InfrastructureError, IntentJudge
from evaluation.protocol.session import Progress, TurnTaken, resolve_turn
from evaluation.protocol.trace import read_texts
from evaluation.rehearsals.turns import progress_of, reply_document, reply_of, settlings, stored, turn_document
from evaluation.workspaces.snapshots import MissingContentError, manifest_reader, rebuild, store_files
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

logger = logging.getLogger(__name__)
State = Rehearsal.State
DIED = "The studio stopped while the model was working. Nothing is lost. Try again."


class RehearsalLeaseLostError(Exception):
    """The person stopped waiting, or another process took over. Write nothing more."""


def send_off(rehearsal: Rehearsal) -> None:
    """Have the models work on it as soon as the transaction is stored."""
    Rehearsal.objects.filter(pk=rehearsal.pk).update(
        state=State.WORKING, reason="", claimed_by="", lease_until=lease_end(), touched_at=timezone.now()
    )
    transaction.on_commit(
        lambda: threading.Thread(target=_apart, args=(rehearsal.pk,), name="rehearsal", daemon=True).start(),
        robust=True,
    )


def give_up_dead(rehearsal: Rehearsal) -> None:
    """Say so where a model's work has died with its process."""
    dead = Rehearsal.objects.filter(pk=rehearsal.pk, state=State.WORKING, lease_until__lt=timezone.now())
    if dead.update(**_stopped(rehearsal, DIED)):
        rehearsal.refresh_from_db()


def stop_waiting(rehearsal: Rehearsal) -> None:
    """The person takes their turn back. What the model still says is not stored."""
    Rehearsal.objects.filter(pk=rehearsal.pk, state=State.WORKING).update(
        **_stopped(rehearsal, "You cancelled the request to the model.")
    )


def work_on(pk: int) -> None:
    """Do what the models have to do now. Safe to call twice."""
    token = uuid.uuid4().hex
    free = Rehearsal.objects.filter(pk=pk, state=State.WORKING, claimed_by="")
    if not free.update(claimed_by=token, lease_until=lease_end()):
        return
    rehearsal = Rehearsal.objects.select_related("revision", "persona_revision", "agent", "judge").get(pk=pk)
    with _kept_alive(token):
        try:
            _work(rehearsal)
        except (RehearsalLeaseLostError, RecordOwnerDeletedError):
            logger.info("Nobody waits for rehearsal %d any more.", pk)
        except (InfrastructureError, MissingContentError) as outage:
            _held(rehearsal).update(**_stopped(rehearsal, str(outage)))
        except Exception as error:
            logger.exception("Rehearsal %d stopped by a defect of the studio.", pk)
            connection.close_if_unusable_or_obsolete()
            _held(rehearsal).update(**_stopped(rehearsal, f"Internal error: {type(error).__name__}: {error}"))


def settled(rehearsal: Rehearsal, task: TaskSpec, judge: IntentJudge) -> tuple[TurnTaken, Progress]:
    """The turn under way as ``judge`` settles it, by the rules of every session."""
    reply = reply_of(rehearsal.under_way["reply"])
    read = manifest_reader(rehearsal.manifest)
    return resolve_turn(progress_of(rehearsal, task), reply, judge, lambda: read_texts(task.files_read, read))


def after(rehearsal: Rehearsal, turn: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    """What changes in the row once a turn is over."""
    changes: dict[str, Any] = {"turns": [*rehearsal.turns, turn], "under_way": {}, "message": progress.message}
    if progress.ending:
        changes |= {
            "state": State.FINISHED,
            "reason": ""
            if progress.ending == "resolved"
            else f"It ended after {progress.turns} turns, the limit for every session.",
        }
    return changes


def _work(rehearsal: Rehearsal) -> None:
    task = TaskSpec.model_validate(rehearsal.revision.spec)
    record = rehearsal_record(rehearsal)
    if rehearsal.seat == Rehearsal.Seat.AGENT:
        _settle(rehearsal, task, record)
        return
    if "reply" not in rehearsal.under_way and not _answer(rehearsal, task, record):
        return
    if rehearsal.judge:
        taken, _ = settled(rehearsal, task, _judge(rehearsal, record))
        rehearsal.under_way |= {"proposal": stored(settlings(taken))}
        _write(rehearsal, under_way=rehearsal.under_way)
    _write(rehearsal, state=State.YOURS, claimed_by="", lease_until=None)


def _settle(rehearsal: Rehearsal, task: TaskSpec, record: CallRecord) -> None:
    """The judge settles what the person wrote as the assistant."""
    taken, progress = settled(rehearsal, task, _judge(rehearsal, record))
    turn = turn_document(taken, rehearsal.under_way["reply"], settlings(taken), rehearsal.manifest)
    _write(
        rehearsal,
        **({"state": State.YOURS, "claimed_by": "", "lease_until": None} | after(rehearsal, turn, progress)),
    )


def _answer(rehearsal: Rehearsal, task: TaskSpec, record: CallRecord) -> bool:
    """The agent takes its turn. Of the task it learns the messages, and which tools there are. False: it failed."""
    persona = PersonaSpec.model_validate(rehearsal.persona_revision.spec)
    assert rehearsal.agent is not None
    number = len(rehearsal.turns) + 1
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="pi-bench-rehearsal-") as name:
        folder = Path(name).resolve()
        rebuild(rehearsal.manifest, folder)
        agent = make_agent(
            AgentSetup(
                client=record.client(rehearsal.agent, "agent", lambda: number),
                workspace=folder,
                tools=tuple(tool for tool in persona.tools if not task.tools or tool in task.tools),
                limits=agent_limits({}),
                state=rehearsal.agent_state,
            )
        )
        try:
            reply = agent.reply(rehearsal.message)
            rehearsal.manifest = store_files(folder, rehearsal.manifest)
        except AgentError as failure:
            _write(rehearsal, state=State.FINISHED, reason=f"The assistant failed: {failure}", claimed_by="")
            return False
    rehearsal.under_way = {"reply": reply_document(reply, int((time.monotonic() - began) * 1000))}
    rehearsal.agent_state = storable(dict(reply.state))
    _write(
        rehearsal,
        under_way=rehearsal.under_way,
        agent_state=rehearsal.agent_state,
        manifest=rehearsal.manifest,
    )
    return True


def _judge(rehearsal: Rehearsal, record: CallRecord) -> ModelIntentJudge:
    assert rehearsal.judge is not None
    return ModelIntentJudge(rehearsal.judge, record, lambda: len(rehearsal.turns) + 1)


def _held(rehearsal: Rehearsal) -> QuerySet[Rehearsal]:
    return Rehearsal.objects.filter(pk=rehearsal.pk, state=State.WORKING, claimed_by=rehearsal.claimed_by)


def _write(rehearsal: Rehearsal, **changes: Any) -> None:
    if not _held(rehearsal).update(touched_at=timezone.now(), **changes):
        raise RehearsalLeaseLostError


def _stopped(rehearsal: Rehearsal, reason: str) -> dict[str, Any]:
    """Our own failure. An answer that is there can be judged by hand."""
    answered = rehearsal.seat == Rehearsal.Seat.USER and "reply" in rehearsal.under_way
    return {
        "state": State.YOURS if answered else State.STOPPED,
        "reason": storable(reason)[:2000],
        "claimed_by": "",
        "lease_until": None,
        "touched_at": timezone.now(),
    }


def _apart(pk: int) -> None:
    try:
        work_on(pk)
    except Exception:  # the lease runs out, and the page says so
        logger.exception("Rehearsal %d could not be worked on.", pk)
    finally:
        connection.close()


def _kept_alive(token: str) -> AbstractContextManager[None]:
    return heartbeat(lambda: Rehearsal.objects.filter(claimed_by=token).update(lease_until=lease_end()), "rehearsal")
