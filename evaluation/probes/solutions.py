"""Reference solutions as rows: writing them, recording them from a rehearsal, and those that count."""

from __future__ import annotations

from evaluation.feasibility.packed import name_problems
from evaluation.models import ReferenceSolution, Rehearsal, Session
from evaluation.probes.rules import probe_rules_later
from evaluation.protocol.given import GivenCall, GivenTurn
from evaluation.store.evidence import found_files, load_turns
from evaluation.workspaces.manifests import safe_path
from studio.domain.options import OptionsError
from studio.domain.storable import storable
from studio.models import Blob, Event, Task, User

MAX_REPLY = 100_000
"""Characters, as of an agent's reply."""
MAX_CALLS = 200


def solution_of(task: Task) -> ReferenceSolution | None:
    """The newest."""
    return ReferenceSolution.objects.filter(task=task).first()


def write_solution(task: Task, turn: GivenTurn, *, by: User | None, recorded: bool = False) -> ReferenceSolution:
    """Its files are stored already. Raises OptionsError."""
    if not (turn.reply.strip() or turn.files or turn.calls):
        raise OptionsError("reply", "A solution has a reply, a file or a tool call.")
    if len(turn.reply) > MAX_REPLY:
        raise OptionsError("reply", f"A reply has at most {MAX_REPLY:,} characters.")
    if len(turn.calls) > MAX_CALLS:
        raise OptionsError("calls", f"There are at most {MAX_CALLS} calls in a turn.")
    for path in turn.files:
        try:
            safe_path(path)
        except ValueError as error:
            raise OptionsError("files", str(error)) from None
    if problems := name_problems(task.persona.user_id, task.task_id, turn):
        raise OptionsError("files", str(problems[0]))
    document = storable(turn.to_json())
    probe_rules_later([task.pk])
    row = ReferenceSolution.objects.create(task=task, recorded=recorded, created_by=by, **document)
    Event.objects.create(
        benchmark=task.persona.benchmark,
        persona=task.persona,
        task=task,
        actor=by,
        verb="solved",
        summary=f"{'Recorded' if recorded else 'Wrote'} a reference solution.",
    )
    return row


def record_solution(rehearsal: Rehearsal, *, by: User) -> ReferenceSolution:
    """Of one in the agent's seat that is over: its last reply, all of its calls, and the files that are not as they
    were found. Raises OptionsError."""
    session = rehearsal.session
    if rehearsal.seat != Rehearsal.Seat.AGENT or rehearsal.state != Rehearsal.State.FINISHED:
        raise OptionsError("", "Only a finished rehearsal in the assistant’s seat can become the reference solution.")
    return write_solution(session.revision.task, _turn_of(session), by=by, recorded=True)


def _turn_of(session: Session) -> GivenTurn:
    turns, found = load_turns(session), found_files(session)
    if not turns:
        raise OptionsError("", "Nothing was answered in this rehearsal.")
    files = {path: sha256 for path, sha256 in turns[-1].files.items() if found.get(path) != sha256}
    calls = [GivenCall(call.name, call.arguments) for turn in turns for call in turn.calls if call.ok]
    return GivenTurn(turns[-1].reply, tuple(calls), files)


def contents_of(turn: GivenTurn) -> dict[str, bytes]:
    """By path."""
    contents = Blob.objects.read(list(turn.files.values()))
    return {path: contents[sha256] for path, sha256 in turn.files.items()}
