"""What graders need of a session: the grader script and the evidence of each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from evaluation.grading.script import GraderScriptError, GraderTurn, grader_keys, run_grader
from evaluation.protocol.history import select_calls, tools_history
from evaluation.protocol.participants import InfrastructureError, ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.sandbox import SandboxUnavailableError
from evaluation.workspaces.manifests import Manifest, Read, manifest_reader
from studio.domain.opening_message import Incoming
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec


@dataclass(frozen=True)
class GraderScriptSource:
    """A task's grader script: source and keys, or why there are none."""

    source: str = ""
    keys: tuple[str, ...] | None = None
    problem: str = ""


@dataclass(frozen=True)
class PlayedTurn:
    """A turn as it was stored."""

    number: int
    message: Incoming
    """The event that opened the session, or the user's words."""
    reply: str
    calls: tuple[ToolRecord, ...]
    files: Manifest
    """After the turn."""


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


def load_script(task: TaskSpec, persona: PersonaSpec, read: Read) -> GraderScriptSource:
    """Raises InfrastructureError if there is no sandbox."""
    if not task.grader_script:
        return GraderScriptSource()
    reference = persona.script(task.grader_script)
    content = read([reference.sha256]).get(reference.sha256) if reference else None
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


def evidence_of(
    turns: Sequence[PlayedTurn], mode: ScoringMode, read: Read, final_files: Manifest | None = None
) -> list[TurnEvidence]:
    """``final_files``: those at the end of the episode, which compat shows in every turn."""
    calls = [turn.calls for turn in turns]
    messages = tuple(turn.message for turn in turns)
    return [
        TurnEvidence(
            turn.number,
            messages[: index + 1],
            turn.reply,
            select_calls(calls[: index + 1], mode),
            select_calls(calls[: index + 1], ScoringMode.STRICT),
            manifest_reader(turn.files if final_files is None else final_files, read),
        )
        for index, turn in enumerate(turns)
    ]
