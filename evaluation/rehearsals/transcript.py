"""A rehearsal as its page shows it: conversation, outcome of each intent, and files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from django.utils.safestring import SafeString

from evaluation.engine.store import Checkpoint
from evaluation.models import Rehearsal
from evaluation.protocol.participants import Thought, ToolRecord
from evaluation.protocol.session import COVERED, IntentState, TurnTaken
from evaluation.rehearsals.calls import calls_made
from evaluation.rehearsals.grading import RuleOutcome, is_due, is_running, rule_outcomes, script_outcomes
from evaluation.rehearsals.turns import (
    IntentDecision,
    calls_in,
    checkpoint_of,
    decisions_of,
    progress_of,
    proposed_in,
    replied_in,
    turns_of,
)
from evaluation.store.rows import call_row
from evaluation.transcripts.files import FileRow, changed_files, file_rows, sizes_of
from evaluation.transcripts.passages import highlight_markdown
from evaluation.transcripts.session import CallView, call_view
from studio.domain.app_changes import RecordChange, net_changes
from studio.domain.opening_message import text_of
from studio.domain.task import HiddenIntent, TaskSpec


@dataclass(frozen=True)
class DecisionView:
    key: str
    index: int
    turn: int
    decision: IntentDecision
    in_reply: bool
    """Whether the quote occurs, highlighted, in the reply."""


@dataclass(frozen=True)
class RehearsalTurn:
    number: int
    message: str
    reply_text: str
    reply: SafeString
    note: str
    tokens: int
    milliseconds: int
    calls: tuple[CallView, ...]
    changes: tuple[FileRow, ...]
    resolved: tuple[tuple[int, str, str], ...]
    """Index, status and text of each intent resolved in this turn."""
    decisions: tuple[DecisionView, ...] = ()
    app_changes: tuple[RecordChange, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    """Of the model in the assistant's seat; for whom the rehearsal is over."""


@dataclass(frozen=True)
class RehearsalIntent:
    state: IntentState
    intent: HiddenIntent
    decisions: tuple[DecisionView, ...]
    """Of every turn, oldest first."""
    proposal: IntentDecision | None = None
    """The judge's proposal in the current turn."""

    @property
    def resolving(self) -> DecisionView | None:
        return self.decisions[-1] if self.decisions and self.state.status in COVERED else None


@dataclass(frozen=True)
class RehearsalTranscript:
    task: TaskSpec
    turns: tuple[RehearsalTurn, ...]
    current: RehearsalTurn | None
    intents: tuple[RehearsalIntent, ...]
    files: tuple[FileRow, ...]
    counts: tuple[tuple[str, int], ...]
    """Intents by status, in the order of the statuses."""
    covered: int
    proc: float | None
    """For this task alone; a pilot also counts the tasks it depends on."""
    made: tuple[CallView, ...] = ()
    """Calls of the person in the assistant's seat, before the turn's reply."""
    app_changes: tuple[RecordChange, ...] = ()
    """By all calls so far."""
    rules: tuple[RuleOutcome, ...] = ()
    """Of the checklist, then of the grader script once it ran."""
    script: str = ""
    """The task's grader script."""
    script_problem: str = ""
    script_state: Literal["", "later", "running", "due"] = ""
    """Whether it runs once the rehearsal is over, is being run, or was not run."""

    @property
    def rules_met(self) -> int:
        return sum(outcome.met is True for outcome in self.rules)

    @property
    def open(self) -> tuple[RehearsalIntent, ...]:
        return tuple(intent for intent in self.intents if intent.state.status == "open")


@dataclass(frozen=True)
class RehearsalSummary:
    """A row in the list of rehearsals."""

    turns: int
    covered: int
    intents: int


def summary_of(row: Rehearsal) -> RehearsalSummary:
    """Makes no queries."""
    states = progress_of(row, TaskSpec.model_validate(row.revision.spec)).intents
    return RehearsalSummary(len(row.turns), sum(state.status in COVERED for state in states), len(states))


def load_transcript(row: Rehearsal) -> RehearsalTranscript:
    task = TaskSpec.model_validate(row.revision.spec)
    progress = progress_of(row, task)
    proposed = proposed_in(row)
    proposal = decisions_of(proposed)
    turns, before = [], row.start_manifest
    for checkpoint in turns_of(row):
        turns.append(_turn(checkpoint, task, before))
        before = dict(checkpoint.files)
    current = None
    if (replied := replied_in(row)) is not None:
        taken = TurnTaken(len(turns) + 1, row.message, replied.reply, {}, {}, {})
        current = _turn(checkpoint_of(row, taken, progress, proposed), task, before)
    intents = tuple(
        RehearsalIntent(
            state,
            task.intents[state.index - 1],
            tuple(each for turn in turns for each in turn.decisions if each.index == state.index),
            proposal.get(state.index),
        )
        for state in progress.intents
    )
    count = Counter(intent.state.status for intent in intents)
    covered = sum(count[status] for status in COVERED)
    return RehearsalTranscript(
        task=task,
        turns=tuple(turns),
        current=current,
        intents=intents,
        files=tuple(file_rows(before, row.manifest, sizes_of(row.manifest))),
        counts=tuple((status, count[status]) for status in ("completed", "inferred", "provided", "open")),
        covered=covered,
        proc=covered / len(intents) if intents else None,
        made=tuple(map(_call, calls_in(row))),
        app_changes=tuple(net_changes(effect for call in calls_made(row) for effect in call.effects)),
        rules=(*rule_outcomes(row, task), *script_outcomes(row)),
        script=PurePosixPath(task.grader_script).name,
        script_problem=str((row.script_outcomes or {}).get("problem", "")),
        script_state=_script_state(row, task),
    )


def _script_state(row: Rehearsal, task: TaskSpec) -> Literal["", "later", "running", "due"]:
    if is_due(row):
        return "running" if is_running(row) else "due"
    return "later" if task.grader_script and row.state != Rehearsal.State.FINISHED else ""


def _turn(checkpoint: Checkpoint, task: TaskSpec, before: Mapping[str, str]) -> RehearsalTurn:
    taken, reply = checkpoint.taken, checkpoint.taken.reply
    number = taken.number
    decided = {
        index: decision
        for index, decision in decisions_of(checkpoint.decided).items()
        if 1 <= index <= len(task.intents)
    }
    quotes = {f"{number}-{index}": decision.quote for index, decision in decided.items() if decision.quote}
    html, located = highlight_markdown(reply.text, quotes)
    return RehearsalTurn(
        number=number,
        message=text_of(taken.message),
        reply_text=reply.text,
        reply=html,
        note=reply.note,
        tokens=reply.tokens.total,
        milliseconds=int(checkpoint.seconds * 1000),
        calls=tuple(map(_call, reply.tool_calls)),
        thoughts=reply.thoughts,
        changes=tuple(changed_files(before, checkpoint.files)),
        resolved=tuple(
            (index, status, task.intents[index - 1].content) for index, status in sorted(taken.resolved.items())
        ),
        decisions=tuple(
            DecisionView(f"{number}-{index}", index, number, decision, f"{number}-{index}" in located)
            for index, decision in sorted(decided.items())
        ),
        app_changes=tuple(net_changes(effect for call in reply.tool_calls for effect in call.effects)),
    )


def _call(record: ToolRecord) -> CallView:
    return call_view(call_row(record), {})
