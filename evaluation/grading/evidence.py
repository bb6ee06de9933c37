"""What graders need of a session: the grader script and the evidence of each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.grading.script import GraderScriptError, GraderTurn, grader_keys, run_grader
from evaluation.models import Session, ToolCall, Turn
from evaluation.protocol.history import select_calls, tools_history
from evaluation.protocol.participants import InfrastructureError, ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.sandbox import SandboxUnavailableError
from evaluation.workspaces.snapshots import Manifest, left_by, manifest_reader
from studio.domain.opening_message import Incoming
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Blob


@dataclass(frozen=True)
class GraderScriptSource:
    """A task's grader script: source and keys, or why there are none."""

    source: str = ""
    keys: tuple[str, ...] | None = None
    problem: str = ""


@dataclass(frozen=True)
class TurnEvidence:
    """What graders see of one turn in one scoring mode."""

    number: int
    messages: tuple[Incoming, ...]
    """The user's messages up to this turn, or the event that opened the session."""
    reply: str
    calls: tuple[ToolRecord, ...]
    made: tuple[ToolRecord, ...]
    """All calls so far: what became of an app's records does not depend on the scoring mode."""
    read: Callable[[str], bytes | None]
    """Reads a workspace file; None if it does not exist."""


def load_script(task: TaskSpec, persona: PersonaSpec) -> GraderScriptSource:
    """Raises InfrastructureError if there is no sandbox."""
    if not task.grader_script:
        return GraderScriptSource()
    reference = persona.script(task.grader_script)
    content = Blob.objects.read([reference.sha256]).get(reference.sha256) if reference else None
    if content is None:
        return GraderScriptSource(problem=f"The grader script {task.grader_script} does not exist.")
    source = content.decode("utf-8", "replace")
    try:
        return GraderScriptSource(source, grader_keys(source))
    except GraderScriptError as error:
        return GraderScriptSource(problem=str(error))
    except SandboxUnavailableError as error:
        raise InfrastructureError(f"The grader script cannot run here: {error}") from error


def run_script(script: GraderScriptSource, turns: Sequence[Sequence[ToolRecord]]) -> Sequence[GraderTurn]:
    """``turns``: the calls that graders see of each. The keys must be known. Raises InfrastructureError if there is no
    sandbox."""
    try:
        return run_grader(script.source, [tools_history(calls) for calls in turns], keys=script.keys).turns
    except SandboxUnavailableError as error:
        raise InfrastructureError(f"The grader script cannot run here: {error}") from error


def load_evidence(session: Session, mode: ScoringMode) -> list[TurnEvidence]:
    turns = list(session.turns.select_related("snapshot").prefetch_related("tool_calls").order_by("number"))
    calls = [[tool_record_of(call) for call in turn.tool_calls.all()] for turn in turns]
    final_files: Manifest | None = final_manifest(session) if mode == ScoringMode.COMPAT else None
    messages = tuple(turn.incoming for turn in turns)
    return [
        TurnEvidence(
            turn.number,
            messages[: index + 1],
            turn.reply,
            select_calls(calls[: index + 1], mode),
            select_calls(calls[: index + 1], ScoringMode.STRICT),
            manifest_reader(turn.snapshot.manifest if final_files is None else final_files),
        )
        for index, turn in enumerate(turns)
    ]


def final_manifest(session: Session) -> Manifest:
    last = (
        Turn.objects.filter(session__run=session.run_id)
        .select_related("snapshot", "session__left")
        .order_by("-session__position", "-number")
        .first()
    )
    return left_by(last).manifest if last else {}


def tool_record_of(call: ToolCall) -> ToolRecord:
    return ToolRecord(call.name, call.arguments, call.result, call.ok, effects=tuple(call.effects))
