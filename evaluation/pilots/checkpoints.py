"""The checkpoint of a session: all that a turn produced, stored in one transaction and read back to resume."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from django.db import transaction

from evaluation.agents import World
from evaluation.call_records import CallRecord
from evaluation.grading.intents import intents_decided
from evaluation.grading.judges import ModelIntentJudge
from evaluation.leases.sessions import LeaseLostError, leased_row, lock_leased_row
from evaluation.models import Judging, MadeCall, Session, SessionIntent, Snapshot, ToolCall, Turn, Verdict
from evaluation.pilots.frozen import task_of
from evaluation.protocol.participants import Agent, AgentReply, Aside, ClosingAgent, ToolRecord
from evaluation.protocol.session import COVERED, IntentState, Progress, Status, TurnTaken, initial_progress
from evaluation.store.snapshots import left_by, take_snapshot
from evaluation.store.verdicts import verdict_rows
from evaluation.workspaces.app_states import AppStates
from evaluation.workspaces.manifests import Manifest, stage_files, store_files
from studio.domain.opening_message import EnvironmentEvent, Incoming, opening_of, text_of
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob
from studio.models.statements import PreparedQuery

_LAST_TURNS = PreparedQuery(
    lambda run, position: (
        Turn.objects.filter(session__run=run, session__position__lte=position)
        .select_related("snapshot", "session__left")
        .order_by("-session__position", "-number")[:1]
    )
)
_BETWEEN = PreparedQuery(
    lambda run, after, before: (
        Session.objects.filter(run=run, position__gt=after, position__lt=before)
        .order_by("position")
        .values_list("revision", "position")
    )
)


def load_progress(session: Session, task: TaskSpec) -> Progress:
    contents = [intent.content for intent in task.intents]
    provided = [intent.initial_status == "provided" for intent in task.intents]
    last = None if session.fresh else session.turns.order_by("-number").first()
    if last is None:
        return initial_progress(opening_of(task), contents, provided)
    resolved = {row.index: row for row in session.intents.all()}
    intents = tuple(
        IntentState(index, content, cast(Status, resolved[index].status), resolved[index].turn or None)
        if index in resolved
        else IntentState(index, content)
        for index, content in enumerate(contents, start=1)
    )
    if last.next_message:
        return Progress(intents, last.number, last.next_message)
    is_open = any(item.status == "open" for item in intents)
    return Progress(intents, last.number, ending="turn_limit" if is_open else "resolved")


def load_workspace(session: Session, task: TaskSpec, persona: PersonaSpec) -> Manifest:
    """The files to resume from: those after the session's last turn, or before its first turn the run's files with this
    task's staged over them.
    """
    first = session.fresh and not session.preceded
    last = None if first else _LAST_TURNS.first(session.run_id, session.position)
    if last is not None and last.session_id == session.pk:
        stored: Manifest = last.snapshot.manifest
        return stored
    before = left_by(last) if last else session.run.start
    manifest: Manifest = before.manifest if before else {}
    after = last.session.position if last else 0
    # these failed in their first turn, but their files were staged
    between = _BETWEEN.rows(session.run_id, after, session.position) if session.position - after > 1 else ()
    for revision, _ in between:
        manifest = stage_files(manifest, persona, task_of(revision))
    return stage_files(manifest, persona, task)


class SnapshottingAgent:
    """Wraps an agent: takes a snapshot after each reply, and makes the reply's text storable."""

    inner: Agent
    """Set after construction, because building it needs this wrapper's ``number``."""

    def __init__(self, session: Session, record: CallRecord, folder: Path, manifest: Manifest, number: int) -> None:
        self.session = session
        self.record = record
        self.folder = folder
        self.manifest = manifest
        self.number = number
        """Number of the current turn, or of the last."""
        self.snapshot: Snapshot | None = None
        self.apps: AppStates | None = None
        self.world: World | None = None
        self.seconds = 0.0

    def reply(self, message: Incoming) -> AgentReply:
        started = time.monotonic()
        self.number += 1
        reply = self.inner.reply(message)
        self.seconds = time.monotonic() - started
        apps = self.apps.store(self.world.snapshot(), Blob.objects.store) if self.apps and self.world else {}
        self.snapshot = take_snapshot(self.session.run, self._files(self.manifest), self.snapshot, apps)
        self.manifest = self.snapshot.manifest
        return AgentReply(
            storable(reply.text),
            tuple(
                ToolRecord(
                    storable(call.name)[:200],
                    storable(dict(call.arguments)),
                    storable(call.result),
                    call.ok,
                    call.seconds,
                    tuple(map(storable, call.changes)),
                    call.key,
                    storable(call.effects),
                )
                for call in reply.tool_calls
            ),
            reply.tokens,
            storable(dict(reply.state)),
            storable(reply.note),
            reply.aside,
        )

    def close(self) -> dict[str, Any]:
        """What the session's row gets when its conversation is over and another session follows it."""
        if not isinstance(self.inner, ClosingAgent):
            return {}
        self.number += 1
        aside = self.inner.close()
        if not aside:
            return {}
        before = self.session.turns.select_related("snapshot").order_by("-number")[0].snapshot
        left = take_snapshot(self.session.run, self._files(before.manifest), before, before.apps)
        return {"left": left, "closing": aside_to_json(aside)}

    def _files(self, known: Manifest) -> Manifest:
        return store_files(self.folder, known, Blob.objects.store)


def aside_to_json(aside: Iterable[Aside]) -> list[dict[str, str]]:
    return [storable(asdict(each)) for each in aside]


def store_provided_intents(session: Session, task: TaskSpec) -> None:
    rows = [
        SessionIntent(session=session, index=index, uid=intent.uid, status="provided", turn=0)
        for index, intent in enumerate(task.intents, start=1)
        if intent.initial_status == "provided"
    ]
    if rows:
        with transaction.atomic():
            lock_leased_row(session)
            SessionIntent.objects.bulk_create(rows, ignore_conflicts=True)


def store_turn(
    agent: SnapshottingAgent,
    judging: Judging,
    judge: ModelIntentJudge,
    task: TaskSpec,
    taken: TurnTaken,
    after: Progress,
) -> None:
    """Raises LeaseLostError; then nothing is stored."""
    session = agent.session
    assert agent.snapshot is not None
    turn = Turn(
        session=session,
        number=taken.number,
        user_message=text_of(taken.message),
        event=taken.message.to_json() if isinstance(taken.message, EnvironmentEvent) else None,
        reply=taken.reply.text,
        note=taken.reply.note,
        agent_state=agent.record.shorten(taken.reply.state),
        next_message=text_of(after.message),
        next_style=taken.style if after.message else "",
        aside=aside_to_json(taken.reply.aside),
        snapshot=agent.snapshot,
        agent_tokens=taken.reply.tokens.total,
        milliseconds=int(agent.seconds * 1000),
    )
    calls = [
        ToolCall(
            turn=turn,
            position=position,
            name=call.name,
            arguments=dict(call.arguments),
            result=call.result,
            ok=call.ok,
            key=call.key,
            milliseconds=int(call.seconds * 1000),
            changes=list(call.changes),
            effects=list(call.effects),
        )
        for position, call in enumerate(taken.reply.tool_calls, start=1)
    ]
    resolved = [
        SessionIntent(session=session, index=index, uid=task.intents[index - 1].uid, status=status, turn=taken.number)
        for index, status in taken.resolved.items()
    ]
    covered = sum(item.status in COVERED for item in after.intents)
    verdicts = verdict_rows(judging, intents_decided(judge, task, taken), agent.record.answered)
    with transaction.atomic():
        if not leased_row(session).update(turn_count=taken.number, covered=covered, attempts=1, failing_since=None):
            raise LeaseLostError
        turn.save(force_insert=True)
        ToolCall.objects.bulk_create(calls)
        Verdict.objects.bulk_create(verdicts)
        SessionIntent.objects.bulk_create(resolved)
        MadeCall.objects.filter(session=session, turn__lte=taken.number, outside=False).delete()
    session.turn_count = taken.number
