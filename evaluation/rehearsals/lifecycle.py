"""Rehearsals: begun, taken turn by turn, ended, deleted. What models do in them is in ``rehearsing``.

The rules of a session decide here too (``evaluation.protocol``); only who sits where differs. Whatever is refused or
goes wrong, the words a person wrote stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from django.db import transaction

from evaluation.agents.react import MAX_REPLY
from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.pilots.start import PilotError, newest_revisions, with_dependencies
from evaluation.protocol.participants import AgentReply
from evaluation.protocol.trace import read_texts
from evaluation.rehearsals.turns import Choice, Hand, decided_by_hand, reply_document, restored, turn_document
from evaluation.rehearsals.work import after, send_off, settled
from evaluation.workspaces.snapshots import MAX_FILES, manifest_reader, safe_path, staged
from studio.domain.opening_message import opening_message
from studio.domain.persona import PersonaSpec
from studio.domain.storable import storable
from studio.domain.task import TaskSpec
from studio.models import Blob, Task, User

Seat = Rehearsal.Seat
State = Rehearsal.State
LARGEST_FILE = 400_000
"""Bytes of a file that is written in a form."""
MAX_MESSAGE = 20_000
MOVED_ON = "The rehearsal has moved on in another window. Your text is kept below."


class RehearsalError(Exception):
    """It cannot be done like this. ``field`` says which input is at fault; "" is the rehearsal itself."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@transaction.atomic
def start_rehearsal(
    task: Task, *, by: User, seat: str, judge: ModelEndpoint | None, agent: ModelEndpoint | None = None
) -> Rehearsal:
    """Freeze the draft as its newest Revision, and lay out its workspace. In the user's seat the agent begins at once.

    The files of tasks it depends on are there as those tasks begin: nobody has worked on them. Raises
    RehearsalError.
    """
    if seat not in Seat.values:
        raise RehearsalError("seat", "Choose a role.")
    if seat == Seat.AGENT and judge is None:
        raise RehearsalError("judge", "Choose who marks intents as met while you answer.")
    if seat == Seat.USER and agent is None:
        raise RehearsalError("agent", "Choose who answers you.")
    persona = task.episode.persona
    placed = list(task.episode.tasks.exclude(position=None).order_by("position"))
    try:
        frozen = newest_revisions([task, *placed])
    except PilotError as refusal:
        raise RehearsalError("", refusal.message) from None
    spec = TaskSpec.model_validate(frozen[task.pk].spec)
    message = opening_message(spec)
    if not message.strip():
        raise RehearsalError("", "The task has no request yet. Write one and save it first.")
    persona_revision = persona.revisions.order_by("-number").first()
    assert persona_revision is not None
    person = PersonaSpec.model_validate(persona_revision.spec)
    specs = {row.task_id: TaskSpec.model_validate(frozen[row.pk].spec) for row in placed} | {spec.task_id: spec}
    needed = with_dependencies([spec.task_id], specs) - {spec.task_id}
    manifest: dict[str, str] = {}
    for one in [*(specs[row.task_id] for row in placed if row.task_id in needed), spec]:
        manifest = staged(manifest, person, one)
    chosen = [endpoint for endpoint in (agent if seat == Seat.USER else None, judge) if endpoint]
    rehearsal = Rehearsal.objects.create(
        revision=frozen[task.pk],
        persona_revision=persona_revision,
        person=by,
        seat=seat,
        agent=agent if seat == Seat.USER else None,
        judge=judge,
        message=message,
        start_manifest=manifest,
        manifest=manifest,
        scripted=any(endpoint.scripted for endpoint in chosen),
    )
    if seat == Seat.USER:
        send_off(rehearsal)
    return rehearsal


def answer(pk: int, text: str, *, turn: int | None = None) -> None:
    """In the assistant's seat: this is the reply; the judge settles what it can. ``turn`` is the one it was written
    for. Raises RehearsalError."""
    text = storable(text.replace("\r\n", "\n"))
    with _taken(pk, Seat.AGENT, State.YOURS, State.STOPPED, turn=turn) as row:
        if not text.strip():
            raise RehearsalError("text", "Write the assistant's reply.")
        if len(text) > MAX_REPLY:
            raise RehearsalError("text", f"This has {len(text):,} characters; a reply has at most {MAX_REPLY:,}.")
        row.under_way = {"reply": reply_document(AgentReply(text))}
        row.save(update_fields=["under_way", "touched_at"])
        send_off(row)


def decide(
    pk: int, choices: Mapping[int, Choice], quotes: Mapping[int, str], words: str, *, turn: int | None = None
) -> None:
    """In the user's seat: settle the intents as chosen, say ``words``, and let the assistant answer.

    What is not chosen was neither met nor asked for. Without ``words`` the user says what the rules of a session
    have them say: the intents asked for, else the first open one. ``turn`` is the one it was decided for. Raises
    RehearsalError.
    """
    words = storable(words.replace("\r\n", "\n")).strip()
    with _taken(pk, Seat.USER, State.YOURS, turn=turn) as row:
        if len(words) > MAX_MESSAGE:
            raise RehearsalError("words", f"This has {len(words):,} characters; write at most {MAX_MESSAGE:,}.")
        task = TaskSpec.model_validate(row.revision.spec)
        reply = row.under_way["reply"]
        files = read_texts(task.files_read, manifest_reader(row.manifest))
        decided = decided_by_hand(
            choices, quotes, restored(row.under_way.get("proposal")), "\n".join((reply["text"], *files.values()))
        )
        taken, progress = settled(row, task, Hand(decided))
        if words and not progress.ending:
            progress = replace(progress, message=words)
        still = {*taken.satisfied, *taken.asked_for}
        document = turn_document(
            taken, reply, {index: one for index, one in decided.items() if index in still}, row.manifest
        )
        changes = {"reason": ""} | after(row, document, progress)
        for name, value in changes.items():
            setattr(row, name, value)
        row.save(update_fields=[*changes, "touched_at"])
        if not progress.ending:
            send_off(row)


def propose_again(pk: int) -> None:
    """In the user's seat: the judge is asked once more about the reply that is there."""
    with _taken(pk, Seat.USER, State.YOURS) as row:
        if row.judge_id is None:
            raise RehearsalError("", "This rehearsal has no judge. Mark the intents yourself.")
        send_off(row)


def try_again(pk: int, words: str = "") -> None:
    """In the user's seat, after a failure of ours: ask the assistant again, with other words if there are any."""
    words = storable(words.replace("\r\n", "\n")).strip()
    with _taken(pk, Seat.USER, State.STOPPED) as row:
        if len(words) > MAX_MESSAGE:
            raise RehearsalError("words", f"This has {len(words):,} characters; write at most {MAX_MESSAGE:,}.")
        if words and row.turns:  # the first message is the task's own
            row.message = words
            row.save(update_fields=["message", "touched_at"])
        send_off(row)


def end_rehearsal(pk: int) -> None:
    """The person has seen enough. What is open stays open."""
    with _taken(pk, None, State.YOURS, State.STOPPED, State.WORKING) as row:
        row.state, row.reason, row.claimed_by = State.FINISHED, "You ended it.", ""
        row.save(update_fields=["state", "reason", "claimed_by", "touched_at"])


def delete_rehearsal(pk: int) -> None:
    Rehearsal.objects.filter(pk=pk).delete()


def validate_size(path: str, size: int, *, field: str) -> None:
    """Raises RehearsalError for a file that is too large for a workspace."""
    if size > LARGEST_FILE:
        raise RehearsalError(field, f"“{path}” is larger than {LARGEST_FILE:,} bytes; use a shorter one.")


def write_file(pk: int, path: str, content: bytes) -> str:
    """In the assistant's seat: a file of the workspace as it is from now on; its path. Raises RehearsalError."""
    path = storable(path).strip()
    try:
        name = str(safe_path(path))
    except ValueError:
        raise RehearsalError("path", "Give the file a name inside the workspace, such as notes/summary.md.") from None
    if len(name) > 500:
        raise RehearsalError("path", "This name is too long: at most 500 characters.")
    validate_size(name, len(content), field="content")
    with _taken(pk, Seat.AGENT, State.YOURS, State.STOPPED) as row:
        if name not in row.manifest and len(row.manifest) >= MAX_FILES:
            raise RehearsalError("path", f"The workspace holds {MAX_FILES:,} files already.")
        if clash := next((other for other in row.manifest if _in_the_way(name, other)), None):
            raise RehearsalError(
                "path", (f"“{clash}” conflicts with this name: a name can be a file or a folder, not both.")
            )
        Blob.objects.keep([content])
        row.manifest = dict(sorted({**row.manifest, name: hashlib.sha256(content).hexdigest()}.items()))
        row.save(update_fields=["manifest", "touched_at"])
    return name


def remove_file(pk: int, path: str) -> None:
    with _taken(pk, Seat.AGENT, State.YOURS, State.STOPPED) as row:
        if path not in row.manifest:
            raise RehearsalError("path", "The workspace no longer has this file.")
        row.manifest = {other: sha for other, sha in row.manifest.items() if other != path}
        row.save(update_fields=["manifest", "touched_at"])


def _in_the_way(name: str, other: str) -> bool:
    return other.startswith(name + "/") or name.startswith(other + "/")


@contextmanager
def _taken(pk: int, seat: str | None, *states: str, turn: int | None = None) -> Iterator[Rehearsal]:
    """The row, locked, if that seat may act now. Raises RehearsalError."""
    with transaction.atomic():
        row = (
            Rehearsal.objects.select_for_update(of=("self",))
            .select_related("revision", "persona_revision", "agent", "judge")
            .get(pk=pk)
        )
        if seat is not None and row.seat != seat:
            raise RehearsalError("", "This is only possible in the other role.")
        if turn is not None and turn != len(row.turns) + 1 and row.state in states:
            raise RehearsalError("", MOVED_ON)
        if row.state not in states:
            row_says = {
                State.WORKING: "A model is working. Wait for it, or cancel.",
                State.FINISHED: "This rehearsal is over. Start another.",
            }
            raise RehearsalError("", row_says.get(State(row.state), MOVED_ON))
        yield row
