"""Starting, playing, ending and deleting rehearsals, under the same rules as every session (``evaluation.engine``).

Whoever acts holds the session's lease meanwhile; what they did is stored as any turn is, and what a model has to do
next is a worker's. A rejected or failed action preserves the text that the user wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.utils import timezone

from evaluation.agents.react import MAX_REPLY
from evaluation.call_records import session_record
from evaluation.engine.plan import SessionPlan
from evaluation.engine.store import Replied, Standing
from evaluation.leases import wake_workers
from evaluation.models import ModelEndpoint, Rehearsal, Run, Session, Turn, Verdict
from evaluation.pilots.plans import newest_revisions, planned_task
from evaluation.pilots.session_work import without_model
from evaluation.protocol.modes import with_dependencies
from evaluation.protocol.participants import AgentReply
from evaluation.rehearsals.decisions import Choice, PersonsChoices, decide_turn, evidence_for, proposals
from evaluation.store.plans import plan_of
from evaluation.store.rows import RowStore
from evaluation.store.snapshots import take_snapshot
from evaluation.workspaces.app_states import initial_apps
from evaluation.workspaces.manifests import MAX_FILES, Manifest, safe_path, stage_files
from studio.domain.opening_message import opening_message
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob, Task, User
from studio.models.transactions import atomic_with_retry

Seat = Rehearsal.Seat
State = Rehearsal.State
MAX_FILE_BYTES = 400_000
MAX_MESSAGE = 20_000
MOVED_ON = "The rehearsal has moved on in another window. Your text is kept below."
CANCELLED = "You cancelled the request to the model."


class RehearsalError(Exception):
    """``field`` names the invalid input; empty if the error is about the rehearsal itself."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@atomic_with_retry
def start_rehearsal(
    task: Task, *, by: User, seat: str, judge: ModelEndpoint | None, agent: ModelEndpoint | None = None
) -> Rehearsal:
    """Freeze the draft as a Revision and set up its workspace. In the user's seat the agent starts immediately.

    Files of the tasks it depends on are in their initial state. Raises RehearsalError.
    """
    if seat not in Seat.values:
        raise RehearsalError("seat", "Choose a role.")
    if seat == Seat.AGENT and judge is None:
        raise RehearsalError("judge", "Choose who marks intents as met while you answer.")
    if seat == Seat.USER and agent is None:
        raise RehearsalError("agent", "Choose who answers you.")
    persona = task.persona
    placed = list(task.persona.tasks.exclude(position=None).order_by("position"))
    try:
        revisions = newest_revisions([task, *placed])
    except OptionsError as error:
        raise RehearsalError("", error.message) from None
    spec = TaskSpec.model_validate(revisions[task.pk].spec)
    if not opening_message(spec).strip():
        raise RehearsalError("", "The task has no request yet. Write one and save it first.")
    persona_revision = persona.revisions.order_by("-number").first()
    assert persona_revision is not None
    persona_spec = PersonaSpec.model_validate(persona_revision.spec)
    needed = with_dependencies([spec.task_id], [planned_task(revisions[row.pk]) for row in (task, *placed)])
    before: Manifest = {}
    for row in placed:
        if row.task_id in needed and row.pk != task.pk:
            before = stage_files(before, persona_spec, TaskSpec.model_validate(revisions[row.pk].spec))
    run = Run.objects.create(persona_revision=persona_revision, number=1)
    run.start = take_snapshot(run, before, apps=initial_apps(persona_spec))
    run.save(update_fields=["start"])
    session = Session.objects.create(
        run=run,
        revision=revisions[task.pk],
        position=1,
        state=Session.State.AWAITING if seat == Seat.AGENT else Session.State.WAITING,
        intent_count=len(spec.intents),
    )
    endpoints = [endpoint for endpoint in (agent if seat == Seat.USER else None, judge) if endpoint]
    rehearsal = Rehearsal.objects.create(
        session=session,
        person=by,
        seat=seat,
        agent=agent if seat == Seat.USER else None,
        judge=judge,
        scripted=any(endpoint.scripted for endpoint in endpoints),
    )
    if seat == Seat.USER:
        wake_workers()
    return rehearsal


@dataclass(frozen=True)
class Acting:
    """For the person, who holds the session."""

    row: Rehearsal
    plan: SessionPlan
    store: RowStore
    standing: Standing

    @property
    def replied(self) -> Replied:
        """What is there of the agent's part of the turn."""
        return self.standing.replied or Replied(AgentReply(""), self.standing.files, self.standing.apps)

    def keep(self, replied: Replied) -> None:
        self.store.reply(self.standing.progress, replied)


@contextmanager
def acting(pk: int, seat: str, *, turn: int | None = None, goes_on: bool = False) -> Iterator[Acting]:
    """Hold the session while the person in the seat acts. Raises RehearsalError unless they may now.

    ``goes_on``: a model is next; then a worker takes the session up.
    """
    states = (State.YOURS, State.STOPPED)
    with _locked(pk, *states) as row:
        session = row.session
        if row.seat != seat:
            raise RehearsalError("", "This is only possible in the other role.")
        if turn is not None and turn != session.turn_count + 1:
            raise RehearsalError("", MOVED_ON)
        before = session.state
        session.claimed_by = Session.objects.all().claim(session.pk, state=Session.State.RUNNING)
        plan, store = plan_of(session), RowStore(session, session_record(session))
        yield Acting(row, plan, store, store.standing(plan))
        if goes_on:
            session.release(state=Session.State.WAITING, **_anew())
            wake_workers()
        else:
            session.release(state=before, attempts=0)


def submit_reply(pk: int, text: str, *, turn: int | None = None) -> None:
    """Submit the assistant's reply, written for ``turn``, to the judge. Raises RehearsalError."""
    text = storable(text.replace("\r\n", "\n"))
    with acting(pk, Seat.AGENT, turn=turn, goes_on=True) as at:
        if not text.strip():
            raise RehearsalError("text", "Write the assistant's reply.")
        if len(text) > MAX_REPLY:
            raise RehearsalError("text", f"This has {len(text):,} characters; a reply has at most {MAX_REPLY:,}.")
        at.keep(replace(at.replied, reply=AgentReply(text, at.replied.reply.tool_calls)))


def submit_decisions(
    pk: int, choices: Mapping[int, Choice], quotes: Mapping[int, str], message: str, *, turn: int | None = None
) -> None:
    """Resolve the intents as the user chose, send ``message``, and let the assistant reply.

    A missing choice means neither met nor asked for. Without ``message``, the simulated user's is sent: the intents
    asked for, or else the first open one. ``turn`` is the turn that the decisions are for. Raises RehearsalError.
    """
    message = _normalized(message)
    with acting(pk, Seat.USER, turn=turn, goes_on=True) as at:
        replied = at.standing.replied
        if replied is None:
            raise RehearsalError("", MOVED_ON)
        number = at.standing.progress.turns + 1
        proposed = proposals(Verdict.objects.of_session(at.row.session), number)
        evidence = evidence_for(at.standing, replied, Blob.objects.read)
        chosen = PersonsChoices(choices, quotes, proposed, evidence)
        checkpoint = decide_turn(at.plan, at.standing, replied, chosen, message)
        at.store.turn(checkpoint)
        if checkpoint.after.ending:
            at.store.end(checkpoint.after, None)


def propose_again(pk: int) -> None:
    with acting(pk, Seat.USER, goes_on=True) as at:
        if at.row.judge is None:
            raise RehearsalError("", "This rehearsal has no judge. Mark the intents yourself.")


def retry_agent(pk: int, message: str = "") -> None:
    message = _normalized(message)
    with acting(pk, Seat.USER, goes_on=True) as at:
        session = at.row.session
        if message and session.turn_count and at.standing.replied is None:  # the first message is the task's own
            _say_instead(session.turns.get(number=session.turn_count), message)


def cancel_model_work(pk: int) -> None:
    """Return the turn to the user. A later model answer is not stored with a turn."""
    with _locked(pk, State.WORKING) as row:
        _take_away(row.session, state=without_model(row.session), reason=CANCELLED)


def end_rehearsal(pk: int) -> None:
    """Open intents stay open; what was done since the last turn counts as one more. Then the checklist is graded."""
    with _locked(pk, State.YOURS, State.STOPPED, State.WORKING) as row:
        session, turns = row.session, row.session.turns.count()
        state = Session.State.WAITING if turns else Session.State.FINISHED
        changes = {"ended_at": timezone.now(), "turn_count": turns, "covered": session.covered or 0}
        _take_away(session, state=state, **changes, **_anew())
        wake_workers()


def grade_again(pk: int) -> None:
    """Where grading did not come to an end."""
    with _locked(pk, State.FINISHED) as row:
        if row.session.state == Session.State.ERROR:
            _take_away(row.session, state=Session.State.WAITING, **_anew())
            wake_workers()


def delete_rehearsal(pk: int) -> None:
    """With its session and all that belongs to it."""
    Run.objects.filter(sessions__rehearsal=pk).delete()


def validate_size(path: str, size: int, *, field: str) -> None:
    if size > MAX_FILE_BYTES:
        raise RehearsalError(field, f"“{path}” is larger than {MAX_FILE_BYTES:,} bytes; use a shorter one.")


def write_file(pk: int, path: str, content: bytes) -> str:
    """Write a workspace file; returns its normalized path. Raises RehearsalError."""
    path = storable(path).strip()
    try:
        name = str(safe_path(path))
    except ValueError:
        raise RehearsalError("path", "Give the file a name inside the workspace, such as notes/summary.md.") from None
    if len(name) > 500:
        raise RehearsalError("path", "This name is too long: at most 500 characters.")
    validate_size(name, len(content), field="content")
    with acting(pk, Seat.AGENT) as at:
        files = at.replied.files
        if name not in files and len(files) >= MAX_FILES:
            raise RehearsalError("path", f"The workspace holds {MAX_FILES:,} files already.")
        if clash := next((other for other in files if _conflicts(name, other)), None):
            raise RehearsalError(
                "path", (f"“{clash}” conflicts with this name: a name can be a file or a folder, not both.")
            )
        Blob.objects.store([content])
        files = dict(sorted({**files, name: hashlib.sha256(content).hexdigest()}.items()))
        at.keep(replace(at.replied, files=files))
    return name


def remove_file(pk: int, path: str) -> None:
    with acting(pk, Seat.AGENT) as at:
        if path not in at.replied.files:
            raise RehearsalError("path", "The workspace no longer has this file.")
        at.keep(replace(at.replied, files={name: sha for name, sha in at.replied.files.items() if name != path}))


def _conflicts(name: str, other: str) -> bool:
    return other.startswith(name + "/") or name.startswith(other + "/")


@contextmanager
def _locked(pk: int, *states: State) -> Iterator[Rehearsal]:
    """Raises RehearsalError unless its conversation is in one of the states."""
    with transaction.atomic():
        Session.objects.select_for_update(no_key=True).filter(rehearsal=pk).order_by().values_list("pk").first()
        row = Rehearsal.objects.select_related(
            "session__run__persona_revision", "session__revision", "agent", "judge"
        ).get(pk=pk)
        if row.state not in states:
            reasons = {
                State.WORKING: "A model is working. Wait for it, or cancel.",
                State.FINISHED: "This rehearsal is over. Start another.",
            }
            raise RehearsalError("", reasons.get(row.state, MOVED_ON))
        yield row


def _anew() -> dict[str, Any]:
    """Of a session that a worker is to take up."""
    return {"reason": "", "failure": "", "attempts": 0, "asking": "", "asking_since": timezone.now()}


def _take_away(session: Session, **changes: Any) -> None:
    """From the worker that has it, if one does."""
    Session.objects.filter(pk=session.pk).take_away(retry_at=None, **changes)


def _say_instead(turn: Turn, message: str) -> None:
    """Turns are frozen: another takes its place."""
    calls = list(turn.tool_calls.all())
    turn.delete()
    turn.next_message = message
    turn.save(force_insert=True)
    for call in calls:
        call.pk, call.turn = None, turn
        call.save(force_insert=True)


def _normalized(message: str) -> str:
    text: str = storable(message.replace("\r\n", "\n")).strip()
    if len(text) > MAX_MESSAGE:
        raise RehearsalError("message", f"This has {len(text):,} characters; write at most {MAX_MESSAGE:,}.")
    return text
