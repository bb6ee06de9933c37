"""Starting, playing, ending and deleting rehearsals, under the same rules as every session (``evaluation.protocol``).

A rejected or failed action preserves the text that the user wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from django.db import transaction

from evaluation.agents.react import MAX_REPLY
from evaluation.engine.store import Replied
from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.pilots.plans import PilotError, needed_by, newest_revisions
from evaluation.protocol.participants import AgentReply
from evaluation.protocol.trace import read_texts
from evaluation.rehearsals.grading import start_script
from evaluation.rehearsals.turns import (
    Choice,
    ManualIntentJudge,
    calls_in,
    checkpoint_of,
    current_turn,
    decided_by_hand,
    decisions_of,
    manual_decisions,
    proposed_in,
    replied_in,
    resolve_current_turn,
)
from evaluation.rehearsals.work import changes_after_turn, start_model_work
from evaluation.workspaces.app_states import initial_apps
from evaluation.workspaces.manifests import MAX_FILES, manifest_reader, safe_path, stage_files
from studio.domain.opening_message import opening_message
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
    except PilotError as error:
        raise RehearsalError("", error.message) from None
    spec = TaskSpec.model_validate(revisions[task.pk].spec)
    message = opening_message(spec)
    if not message.strip():
        raise RehearsalError("", "The task has no request yet. Write one and save it first.")
    persona_revision = persona.revisions.order_by("-number").first()
    assert persona_revision is not None
    persona_spec = PersonaSpec.model_validate(persona_revision.spec)
    specs = {row.task_id: TaskSpec.model_validate(revisions[row.pk].spec) for row in placed} | {spec.task_id: spec}
    needed = needed_by(spec.task_id, [revisions[row.pk] for row in (task, *placed)])
    manifest: dict[str, str] = {}
    for each in [*(specs[row.task_id] for row in placed if row.task_id in needed), spec]:
        manifest = stage_files(manifest, persona_spec, each)
    endpoints = [endpoint for endpoint in (agent if seat == Seat.USER else None, judge) if endpoint]
    rehearsal = Rehearsal.objects.create(
        revision=revisions[task.pk],
        persona_revision=persona_revision,
        person=by,
        seat=seat,
        agent=agent if seat == Seat.USER else None,
        judge=judge,
        message=message,
        start_manifest=manifest,
        manifest=manifest,
        apps=initial_apps(persona_spec),
        scripted=any(endpoint.scripted for endpoint in endpoints),
    )
    if seat == Seat.USER:
        start_model_work(rehearsal)
    return rehearsal


def submit_reply(pk: int, text: str, *, turn: int | None = None) -> None:
    """Submit the assistant's reply, written for ``turn``, to the judge. Raises RehearsalError."""
    text = storable(text.replace("\r\n", "\n"))
    with lock_rehearsal(pk, Seat.AGENT, State.YOURS, State.STOPPED, turn=turn) as row:
        if not text.strip():
            raise RehearsalError("text", "Write the assistant's reply.")
        if len(text) > MAX_REPLY:
            raise RehearsalError("text", f"This has {len(text):,} characters; a reply has at most {MAX_REPLY:,}.")
        replied = Replied(AgentReply(text, tuple(calls_in(row))), row.manifest, row.apps)
        row.current_turn |= current_turn(replied)
        row.save(update_fields=["current_turn", "updated_at"])
        start_model_work(row)


def submit_decisions(
    pk: int, choices: Mapping[int, Choice], quotes: Mapping[int, str], message: str, *, turn: int | None = None
) -> None:
    """Resolve the intents as the user chose, send ``message``, and let the assistant reply.

    A missing choice means neither met nor asked for. Without ``message``, the simulated user's is sent: the intents
    asked for, or else the first open one. ``turn`` is the turn that the decisions are for. Raises RehearsalError.
    """
    message = _normalized(message)
    with lock_rehearsal(pk, Seat.USER, State.YOURS, turn=turn) as row:
        _validate_message(message)
        task = TaskSpec.model_validate(row.revision.spec)
        replied, proposal = replied_in(row), proposed_in(row)
        assert replied is not None
        files = read_texts(task.files_read, manifest_reader(row.manifest, Blob.objects.read))
        evidence = "\n".join((replied.reply.text, *files.values()))
        manual = manual_decisions(choices, quotes, decisions_of(proposal), evidence)
        taken, progress = resolve_current_turn(row, task, ManualIntentJudge(manual))
        if message and not progress.ending:
            progress = replace(progress, message=message)
        decided = [*proposal, *decided_by_hand(task, taken, manual)]
        changes = {"reason": ""} | changes_after_turn(row, checkpoint_of(row, taken, progress, decided))
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(update_fields=[*changes, "updated_at"])
        if progress.ending:
            start_script(row)
        else:
            start_model_work(row)


def propose_again(pk: int) -> None:
    with lock_rehearsal(pk, Seat.USER, State.YOURS) as row:
        if row.judge_id is None:
            raise RehearsalError("", "This rehearsal has no judge. Mark the intents yourself.")
        start_model_work(row)


def retry_agent(pk: int, message: str = "") -> None:
    message = _normalized(message)
    with lock_rehearsal(pk, Seat.USER, State.STOPPED) as row:
        _validate_message(message)
        if message and row.turns:  # the first message is the task's own
            row.message = message
            row.save(update_fields=["message", "updated_at"])
        start_model_work(row)


def end_rehearsal(pk: int) -> None:
    """Open intents stay open."""
    with lock_rehearsal(pk, None, State.YOURS, State.STOPPED, State.WORKING) as row:
        row.state, row.reason, row.claimed_by = State.FINISHED, "You ended it.", ""
        row.save(update_fields=["state", "reason", "claimed_by", "updated_at"])
        start_script(row)


def grade_again(pk: int) -> None:
    """Run the grader script where that did not come to an end."""
    with lock_rehearsal(pk, None, State.FINISHED) as row:
        start_script(row)


def delete_rehearsal(pk: int) -> None:
    Rehearsal.objects.filter(pk=pk).delete()


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
    with lock_rehearsal(pk, Seat.AGENT, State.YOURS, State.STOPPED) as row:
        if name not in row.manifest and len(row.manifest) >= MAX_FILES:
            raise RehearsalError("path", f"The workspace holds {MAX_FILES:,} files already.")
        if clash := next((other for other in row.manifest if _conflicts(name, other)), None):
            raise RehearsalError(
                "path", (f"“{clash}” conflicts with this name: a name can be a file or a folder, not both.")
            )
        Blob.objects.store([content])
        row.manifest = dict(sorted({**row.manifest, name: hashlib.sha256(content).hexdigest()}.items()))
        row.save(update_fields=["manifest", "updated_at"])
    return name


def remove_file(pk: int, path: str) -> None:
    with lock_rehearsal(pk, Seat.AGENT, State.YOURS, State.STOPPED) as row:
        if path not in row.manifest:
            raise RehearsalError("path", "The workspace no longer has this file.")
        row.manifest = {other: sha for other, sha in row.manifest.items() if other != path}
        row.save(update_fields=["manifest", "updated_at"])


def _conflicts(name: str, other: str) -> bool:
    return other.startswith(name + "/") or name.startswith(other + "/")


@contextmanager
def lock_rehearsal(pk: int, seat: str | None, *states: str, turn: int | None = None) -> Iterator[Rehearsal]:
    """Lock the row, and check that the seat may act now. Raises RehearsalError."""
    with transaction.atomic():
        row = (
            Rehearsal.objects.select_for_update(no_key=True, of=("self",))
            .select_related("revision", "persona_revision", "agent", "judge")
            .get(pk=pk)
        )
        if seat is not None and row.seat != seat:
            raise RehearsalError("", "This is only possible in the other role.")
        if turn is not None and turn != len(row.turns) + 1 and row.state in states:
            raise RehearsalError("", MOVED_ON)
        if row.state not in states:
            reasons = {
                State.WORKING: "A model is working. Wait for it, or cancel.",
                State.FINISHED: "This rehearsal is over. Start another.",
            }
            raise RehearsalError("", reasons.get(State(row.state), MOVED_ON))
        yield row


def _normalized(message: str) -> str:
    text: str = storable(message.replace("\r\n", "\n"))
    return text.strip()


def _validate_message(message: str) -> None:
    if len(message) > MAX_MESSAGE:
        raise RehearsalError("message", f"This has {len(message):,} characters; write at most {MAX_MESSAGE:,}.")
