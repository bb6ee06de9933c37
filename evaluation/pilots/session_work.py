"""Working on one session: its conversation, turn by turn, then its grading. Resumable everywhere."""

from __future__ import annotations

import logging
import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from evaluation.call_records import CallRecord, session_record
from evaluation.grading.judges import ModelChecklistJudge, ModelIntentJudge
from evaluation.grading.session import grade_session
from evaluation.leases.sessions import LeaseLostError, State, claim, held, hold, kept_alive, let_go
from evaluation.models import Session, SessionIntent, Snapshot, ToolCall, Turn, Verdict
from evaluation.pilots.lifecycle import settle_pilot
from evaluation.pilots.participants import agent_of
from evaluation.pilots.queue import enqueue_due
from evaluation.pilots.usage import usage_of
from evaluation.protocol.participants import Agent, AgentReply, InfrastructureError, ToolRecord
from evaluation.protocol.session import COVERED, IntentState, Progress, Status, TurnTaken, begin, run_session
from evaluation.protocol.trace import read_texts
from evaluation.workspaces.snapshots import Manifest, MissingContentError, folder_reader, rebuild, staged, take_snapshot
from studio.domain.opening_message import opening_message
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

logger = logging.getLogger(__name__)


def work_on(session_id: int) -> bool:
    """Take a session as far as it goes now. False: it was not to be had. Safe to call twice and from two workers."""
    session = claim(session_id)
    if session is None:
        return False
    with kept_alive(session):
        try:
            _go_on(session)
        except LeaseLostError:
            logger.info("Session %d was taken over or cancelled.", session.pk)
        except (InfrastructureError, MissingContentError) as outage:
            _record_outage(session, str(outage))
        except Exception as error:
            logger.exception("Session %d stopped by a defect of the studio.", session.pk)
            connection.close_if_unusable_or_obsolete()
            _record_outage(session, f"Internal error: {type(error).__name__}: {error}")
    enqueue_due([session.run])
    settle_pilot(session.run.pilot_id)
    return True


def _go_on(session: Session) -> None:
    task = TaskSpec.model_validate(session.revision.spec)
    persona = PersonaSpec.model_validate(session.run.persona_revision.spec)
    record = session_record(session)
    if session.ended_at is None:
        if not _converse(session, task, persona, record):
            return
        enqueue_due([session.run])
    changes = _grade(session, task, persona, record)
    usage = usage_of(session)
    let_go(session, state=State.FINISHED, tokens=usage.tokens, cost=usage.cost, attempts=0, **changes)


def _converse(session: Session, task: TaskSpec, persona: PersonaSpec, record: CallRecord) -> bool:
    """Hold the conversation from the last stored turn on. False: the agent failed, and the session is over."""
    progress = progress_of(session, task)
    if progress.turns == 0 and session.turn_count == 0:
        _store_given(session, task)
    with tempfile.TemporaryDirectory(prefix="pi-bench-session-") as name:
        folder = Path(name).resolve()
        manifest = workspace_before(session, task, persona)
        rebuild(manifest, folder)
        stage = _Stage(session, folder, manifest)
        agent = _StoringAgent(stage, progress.turns)
        agent.inner = agent_of(session, task, persona, folder, record, lambda: agent.number)
        judge = ModelIntentJudge(session.run.pilot.user_model, record, lambda: agent.number)
        read = folder_reader(folder)

        def store(taken: TurnTaken, after: Progress) -> None:
            _store_turn(stage, agent, judge, task, taken, after)

        end = run_session(
            progress,
            agent,
            judge,
            lambda: read_texts(task.files_read, read),
            store,
            max_turns=int(session.run.pilot.limits.get("turns") or 30),
        )
    covered = sum(item.status in COVERED for item in end.intents)
    now = timezone.now()
    if end.ending == "failed":
        usage = usage_of(session)
        let_go(
            session,
            state=State.FAILED,
            reason=end.reason,
            ended_at=now,
            covered=covered,
            tokens=usage.tokens,
            cost=usage.cost,
        )
        return False
    if not held(session).update(ended_at=now, covered=covered, attempts=1):
        raise LeaseLostError
    return True


def _grade(session: Session, task: TaskSpec, persona: PersonaSpec, record: CallRecord) -> dict[str, Any]:
    """Grade strictly, and compat too if the whole run's conversations are over; what changes in the row."""
    changes: dict[str, Any] = {}
    ask = ModelChecklistJudge(session, record)
    strict = grade_session(session, task, persona, "strict", ask)
    changes |= {"comp_strict": strict.comp, "ungraded": strict.ungraded, "graded_strict_at": timezone.now()}
    if not Session.objects.filter(run=session.run_id, ended_at=None).exists():
        compat = grade_session(session, task, persona, "compat", ask)
        changes |= {"comp_compat": compat.comp, "graded_compat_at": timezone.now()}
    return changes


def progress_of(session: Session, task: TaskSpec) -> Progress:
    """How the session stands after its last stored turn."""
    contents = [intent.content for intent in task.intents]
    provided = [intent.initial_status == "provided" for intent in task.intents]
    last = session.turns.order_by("-number").first()
    if last is None:
        return begin(opening_message(task), contents, provided)
    settled = {row.index: row for row in session.intents.all()}
    intents = tuple(
        IntentState(index, content, cast(Status, settled[index].status), settled[index].turn or None)
        if index in settled
        else IntentState(index, content)
        for index, content in enumerate(contents, start=1)
    )
    if last.next_message:
        return Progress(intents, last.number, last.next_message)
    is_open = any(item.status == "open" for item in intents)
    return Progress(intents, last.number, ending="turn_limit" if is_open else "settled")


def workspace_before(session: Session, task: TaskSpec, persona: PersonaSpec) -> Manifest:
    """The files a session goes on from: those of its last turn, or the run's so far with this task's laid over."""
    last = (
        Turn.objects.filter(session__run=session.run_id, session__position__lte=session.position)
        .select_related("snapshot", "session")
        .order_by("-session__position", "-number")
        .first()
    )
    if last is not None and last.session_id == session.pk:
        stored: Manifest = last.snapshot.manifest
        return stored
    manifest: Manifest = last.snapshot.manifest if last else {}
    skipped = Session.objects.filter(
        run=session.run_id,
        position__gt=last.session.position if last else 0,
        position__lt=session.position,
    ).select_related("revision")
    for earlier in skipped.order_by(
        "position"
    ):  # failed before their first turn was over; their files stay all the same
        manifest = staged(manifest, persona, TaskSpec.model_validate(earlier.revision.spec))
    return staged(manifest, persona, task)


class _Stage:
    """The workspace on disk, and what of it is stored."""

    def __init__(self, session: Session, folder: Path, manifest: Manifest) -> None:
        self.session = session
        self.folder = folder
        self.manifest = manifest

    def snapshot(self) -> Snapshot:
        taken = take_snapshot(self.session.run, self.folder, self.manifest)
        self.manifest = taken.manifest
        return taken


class _StoringAgent:
    """An agent whose workspace is stored as soon as it has replied, and whose words can be."""

    inner: Agent

    def __init__(self, stage: _Stage, number: int) -> None:
        self.stage = stage
        self.number = number
        """Of the turn under way, or the last."""
        self.snapshot: Snapshot | None = None
        self.seconds = 0.0

    def reply(self, message: str) -> AgentReply:
        began = time.monotonic()
        self.number += 1
        reply = self.inner.reply(message)
        self.seconds = time.monotonic() - began
        self.snapshot = self.stage.snapshot()
        return AgentReply(
            storable(reply.text),
            tuple(
                ToolRecord(
                    storable(call.name)[:200],
                    storable(dict(call.arguments)),
                    storable(call.result),
                    call.ok,
                    call.seconds,
                )
                for call in reply.tool_calls
            ),
            reply.tokens,
            storable(dict(reply.state)),
            storable(reply.note),
        )


def _store_given(session: Session, task: TaskSpec) -> None:
    """Intents provided from the start have their terminal status before the first turn."""
    rows = [
        SessionIntent(session=session, index=index, uid=intent.uid, status="provided", turn=0)
        for index, intent in enumerate(task.intents, start=1)
        if intent.initial_status == "provided"
    ]
    if rows:
        with transaction.atomic():
            hold(session)
            SessionIntent.objects.bulk_create(rows, ignore_conflicts=True)


def _store_turn(
    stage: _Stage, agent: _StoringAgent, judge: ModelIntentJudge, task: TaskSpec, taken: TurnTaken, after: Progress
) -> None:
    """The checkpoint: one transaction, or nothing."""
    session = stage.session
    assert agent.snapshot is not None
    with transaction.atomic():
        hold(session)
        turn = Turn.objects.create(
            session=session,
            number=taken.number,
            user_message=taken.message,
            reply=taken.reply.text,
            note=taken.reply.note,
            agent_state=taken.reply.state,
            next_message=after.message,
            snapshot=agent.snapshot,
            agent_tokens=taken.reply.tokens.total,
            milliseconds=int(agent.seconds * 1000),
        )
        ToolCall.objects.bulk_create(
            ToolCall(
                turn=turn,
                position=position,
                name=call.name,
                arguments=call.arguments,
                result=call.result,
                ok=call.ok,
                milliseconds=int(call.seconds * 1000),
            )
            for position, call in enumerate(taken.reply.tool_calls, start=1)
        )
        Verdict.objects.bulk_create(_intent_verdicts(session, judge, task, taken))
        SessionIntent.objects.bulk_create(
            SessionIntent(
                session=session, index=index, uid=task.intents[index - 1].uid, status=status, turn=taken.number
            )
            for index, status in taken.settled.items()
        )
        held(session).update(
            turn_count=taken.number, attempts=1, covered=sum(item.status in COVERED for item in after.intents)
        )
    session.turn_count = taken.number


def _intent_verdicts(session: Session, judge: ModelIntentJudge, task: TaskSpec, taken: TurnTaken) -> list[Verdict]:
    stages = ((Verdict.Kind.SATISFACTION, taken.satisfied), (Verdict.Kind.FOLLOW_UP, taken.asked_for))
    return [
        Verdict(
            session=session,
            kind=kind,
            turn=taken.number,
            index=index,
            uid=task.intents[index - 1].uid,
            label=task.intents[index - 1].content,
            grader="judge",
            met=decision.yes,
            quote=decision.quote,
            reason=decision.reason,
            supported=decision.supported,
            style=decision.style or "",
            model_call_id=judge.calls.get(kind),
        )
        for kind, decisions in stages
        for index, decision in decisions.items()
    ]


def _record_outage(session: Session, reason: str) -> None:
    """Our own failure: try again later, a bounded number of times; then wait for someone to take it up."""
    attempts = held(session).values_list("attempts", flat=True).first() or settings.SESSION_ATTEMPTS
    again = attempts < settings.SESSION_ATTEMPTS
    pause = min(settings.SESSION_RETRY_SECONDS * 2 ** (attempts - 1), 600)
    usage = usage_of(session)
    let_go(
        session,
        state=State.ERROR,
        reason=storable(reason)[:2000],
        retry_at=timezone.now() + timedelta(seconds=pause) if again else None,
        tokens=usage.tokens,
        cost=usage.cost,
    )
