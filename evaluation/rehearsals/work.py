"""Model work in a rehearsal: answering as the assistant, judging intents, proposing decisions.

A user is waiting, so it runs in a thread of the web process instead of the queue. The row records that a model is
working, so every window shows the same state. The lease reveals work whose process died, which can then be resumed;
recorded model answers are not paid for twice.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from evaluation.agents import AgentSetup, make_agent, reachable_names
from evaluation.call_records import CallRecord, RecordOwnerDeletedError, rehearsal_record
from evaluation.engine.plan import agent_limits
from evaluation.grading.judges import ModelIntentJudge
from evaluation.judging.judgings import open_rehearsal_judging, versions_of
from evaluation.leases import renewing
from evaluation.models import Rehearsal
from evaluation.models.leased import LeaseLostError, lease_end
from evaluation.protocol.participants import AgentError, InfrastructureError, IntentJudge
from evaluation.protocol.session import Progress, TurnTaken, resolve_turn
from evaluation.protocol.trace import read_texts
from evaluation.rehearsals.grading import run_due_script
from evaluation.rehearsals.turns import (
    decisions_to_json,
    judge_decisions,
    progress_of,
    reply_document,
    reply_of,
    turn_document,
)
from evaluation.store.plans import bound_servers
from evaluation.store.verdicts import JudgeOnRecord
from evaluation.tools.mcp.servers import opened
from evaluation.workspaces.app_states import load_apps
from evaluation.workspaces.folders import temporary_folder
from evaluation.workspaces.manifests import MissingContentError, manifest_reader, rebuild_workspace, store_files
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.opening_message import opening_of, text_of
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


def resolve_current_turn(rehearsal: Rehearsal, task: TaskSpec, judge: IntentJudge) -> tuple[TurnTaken, Progress]:
    reply = reply_of(rehearsal.current_turn["reply"])
    read = manifest_reader(rehearsal.manifest, Blob.objects.read)
    return resolve_turn(progress_of(rehearsal, task), reply, judge, lambda: read_texts(task.files_read, read))


def changes_after_turn(rehearsal: Rehearsal, turn: Mapping[str, Any], progress: Progress) -> dict[str, Any]:
    changes: dict[str, Any] = {
        "turns": [*rehearsal.turns, turn],
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


def _work(rehearsal: Rehearsal) -> None:
    task = TaskSpec.model_validate(rehearsal.revision.spec)
    record = rehearsal_record(rehearsal)
    if rehearsal.seat == Rehearsal.Seat.AGENT:
        _judge_reply(rehearsal, task, record)
        return
    if "reply" not in rehearsal.current_turn and not _run_agent(rehearsal, task, record):
        return
    if rehearsal.judge:
        taken, _ = resolve_current_turn(rehearsal, task, _make_judge(rehearsal, record))
        rehearsal.current_turn |= {"proposal": decisions_to_json(judge_decisions(taken))}
        _write(rehearsal, current_turn=rehearsal.current_turn)
    _write(rehearsal, state=State.YOURS, claimed_by="", lease_until=None)


def _judge_reply(rehearsal: Rehearsal, task: TaskSpec, record: CallRecord) -> None:
    taken, progress = resolve_current_turn(rehearsal, task, _make_judge(rehearsal, record))
    turn = turn_document(taken, rehearsal.current_turn["reply"], judge_decisions(taken), rehearsal.manifest)
    _write(
        rehearsal,
        **{"state": State.YOURS, "claimed_by": "", "lease_until": None} | changes_after_turn(rehearsal, turn, progress),
    )


def _run_agent(rehearsal: Rehearsal, task: TaskSpec, record: CallRecord) -> bool:
    """Let the agent reply; False if it failed. Of the task it sees only the messages and tools."""
    persona = PersonaSpec.model_validate(rehearsal.persona_revision.spec)
    assert rehearsal.agent is not None
    number = len(rehearsal.turns) + 1
    started = time.monotonic()
    with temporary_folder() as folder, opened(bound_servers(persona), policy()) as servers:
        rebuild_workspace(rehearsal.manifest, folder, Blob.objects.read)
        apps = load_apps(rehearsal.apps, persona, task.task_id, Blob.objects.read)
        world = apps.open()
        agent = make_agent(
            AgentSetup(
                client=record.client(rehearsal.agent, "agent", lambda: number),
                workspace=folder,
                tools=reachable_names(persona.tools, task.tools),
                world=world,
                corpus=open_corpus(persona, task.task_id, Blob.objects.read),
                servers=servers,
                limits=agent_limits({}),
                state=record.restore(rehearsal.agent_state),
            )
        )
        try:
            reply = agent.reply(rehearsal.message if rehearsal.turns else opening_of(task))
            rehearsal.manifest = store_files(folder, rehearsal.manifest, Blob.objects.store)
            rehearsal.apps = apps.store(world.snapshot(), Blob.objects.store)
        except AgentError as error:
            _write(rehearsal, state=State.FINISHED, reason=f"The assistant failed: {error}", claimed_by="")
            return False
    rehearsal.current_turn = {"reply": reply_document(reply, int((time.monotonic() - started) * 1000))}
    rehearsal.agent_state = record.shorten(storable(dict(reply.state)))
    _write(
        rehearsal,
        current_turn=rehearsal.current_turn,
        agent_state=rehearsal.agent_state,
        manifest=rehearsal.manifest,
        apps=rehearsal.apps,
    )
    return True


def _make_judge(rehearsal: Rehearsal, record: CallRecord) -> ModelIntentJudge:
    assert rehearsal.judge is not None
    judging = open_rehearsal_judging(rehearsal, rehearsal.judge)
    return ModelIntentJudge(JudgeOnRecord(judging, record), versions_of(judging), len(rehearsal.turns) + 1)


def _write(rehearsal: Rehearsal, **changes: Any) -> None:
    rehearsal.write(updated_at=timezone.now(), **changes)


def _failure(rehearsal: Rehearsal, reason: str) -> dict[str, Any]:
    """Fields after an infrastructure failure. If the agent has replied, the user can decide manually."""
    answered = rehearsal.seat == Rehearsal.Seat.USER and "reply" in rehearsal.current_turn
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
