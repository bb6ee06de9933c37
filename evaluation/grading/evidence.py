"""What graders need of a session: the grader script and the evidence of each turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluation.grading.script import GraderScriptError, GraderTurn, grader_keys, run_grader
from evaluation.grading.work import Conversation, Work, work_after
from evaluation.protocol.history import select_calls, tools_history
from evaluation.protocol.participants import InfrastructureError, ToolRecord
from evaluation.protocol.scoring import ScoringMode
from evaluation.sandbox import SandboxUnavailableError
from evaluation.workspaces.manifests import Manifest, Read, manifest_reader, rebuild_workspace
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
class TurnEvidence:
    """What graders see of one turn in one scoring mode."""

    number: int
    messages: tuple[Incoming, ...]
    """The user's messages up to this turn, or the event that opened the session."""
    reply: str
    replies: tuple[str, ...]
    """All so far."""
    calls: tuple[ToolRecord, ...]
    made: tuple[ToolRecord, ...]
    """All calls so far: what became of an app's records does not depend on the scoring mode."""
    read: Callable[[str], bytes | None]
    """Reads a workspace file; None if it does not exist."""
    work: Callable[[], Work]
    """What the paper protocol shows."""
    rebuild: Callable[[Path], None]
    """Makes the workspace in a folder."""


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


def run_script(
    script: GraderScriptSource, turns: Sequence[TurnEvidence], *, with_files: bool = False
) -> Sequence[GraderTurn]:
    """The keys must be known. ``with_files``: the script finds the workspace as it was at each turn. Raises
    InfrastructureError if there is no sandbox."""
    histories = [tools_history(turn.calls) for turn in turns]
    rebuild = [turn.rebuild for turn in turns] if with_files else []
    try:
        return run_grader(script.source, histories, keys=script.keys, rebuild=rebuild).turns
    except SandboxUnavailableError as error:
        raise InfrastructureError(f"The grader script cannot run here: {error}") from error


def evidence_of(
    conversation: Conversation, mode: ScoringMode, read: Read, final_files: Manifest | None = None
) -> list[TurnEvidence]:
    """``final_files``: those at the end of the episode, which compat shows in every turn."""
    turns = conversation.turns
    calls = [turn.calls for turn in turns]
    messages = tuple(turn.message for turn in turns)
    left = [turn.files if final_files is None else final_files for turn in turns]
    return [
        TurnEvidence(
            turn.number,
            messages[: index + 1],
            turn.reply,
            tuple(earlier.reply for earlier in turns[: index + 1]),
            select_calls(calls[: index + 1], mode),
            select_calls(calls[: index + 1], ScoringMode.STRICT),
            manifest_reader(left[index], read),
            partial(work_after, conversation.until(turn.number), read),
            partial(rebuild_workspace, left[index], read=read),
        )
        for index, turn in enumerate(turns)
    ]
