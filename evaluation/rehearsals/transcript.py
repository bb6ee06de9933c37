"""A rehearsal as its person reads it: conversation, what became of each intent, files, and where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from evaluation.models import Rehearsal, ToolCall
from evaluation.protocol.session import COVERED, IntentState
from evaluation.rehearsals.turns import Settling, progress_of, restored
from evaluation.transcripts.passages import markdown
from evaluation.transcripts.session import CallView, call_view
from evaluation.workspaces.files import FileRow, changed_files, file_rows, sizes_of
from studio.domain.task import HiddenIntent, TaskSpec


@dataclass(frozen=True)
class Said:
    """One decision on one intent, with what it rests on."""

    key: str
    index: int
    turn: int
    settling: Settling
    in_reply: bool
    """The quote stands in the reply, where it is marked."""


@dataclass(frozen=True)
class TurnView:
    number: int
    message: str
    reply_text: str
    reply: SafeString
    note: str
    tokens: int
    milliseconds: int
    calls: tuple[CallView, ...]
    changed_files: tuple[FileRow, ...]
    settled: tuple[tuple[int, str, str], ...]
    """Index, status and text of each intent this turn settled."""
    said: tuple[Said, ...] = ()


@dataclass(frozen=True)
class IntentView:
    state: IntentState
    intent: HiddenIntent
    said: tuple[Said, ...]
    """Of every turn, the oldest first."""
    proposal: Settling | None = None
    """What the judge says of it in the turn that is not over."""

    @property
    def deciding(self) -> Said | None:
        """What settled it; None: it is open, or the user had to say it."""
        last = self.said[-1] if self.said and self.state.status in COVERED else None
        return last


@dataclass(frozen=True)
class RehearsalReading:
    task: TaskSpec
    turns: tuple[TurnView, ...]
    under_way: TurnView | None
    intents: tuple[IntentView, ...]
    files: tuple[FileRow, ...]
    counts: tuple[tuple[str, int], ...]
    """Intents by status, in the order of the statuses."""
    covered: int
    proc: float | None
    """Of this task alone: a task that builds on others shares theirs in a pilot."""

    @property
    def open(self) -> tuple[IntentView, ...]:
        return tuple(one for one in self.intents if one.state.status == "open")


@dataclass(frozen=True)
class Summary:
    """One line of a list of rehearsals."""

    turns: int
    covered: int
    intents: int


def summary_of(row: Rehearsal) -> Summary:
    """Without a query, so that a list costs the same however long it is."""
    states = progress_of(row, TaskSpec.model_validate(row.revision.spec)).intents
    return Summary(len(row.turns), sum(one.status in COVERED for one in states), len(states))


def read_rehearsal(row: Rehearsal) -> RehearsalReading:
    task = TaskSpec.model_validate(row.revision.spec)
    progress = progress_of(row, task)
    proposal = restored(row.under_way.get("proposal"))
    turns, before = [], row.start_manifest
    for document in row.turns:
        turns.append(_turn(document, task, before))
        before = document["manifest"]
    under_way = None
    if "reply" in row.under_way:
        document = {
            "number": len(turns) + 1,
            "message": row.message,
            "reply": row.under_way["reply"],
            "decided": row.under_way.get("proposal") or {},
            "settled": {},
            "manifest": row.manifest,
        }
        under_way = _turn(document, task, before)
    intents = tuple(
        IntentView(
            state,
            task.intents[state.index - 1],
            tuple(one for turn in turns for one in turn.said if one.index == state.index),
            proposal.get(state.index),
        )
        for state in progress.intents
    )
    count = Counter(one.state.status for one in intents)
    covered = sum(count[status] for status in COVERED)
    return RehearsalReading(
        task=task,
        turns=tuple(turns),
        under_way=under_way,
        intents=intents,
        files=tuple(file_rows(before, row.manifest, sizes_of(row.manifest))),
        counts=tuple((status, count[status]) for status in ("completed", "inferred", "provided", "open")),
        covered=covered,
        proc=covered / len(intents) if intents else None,
    )


def _turn(document: Mapping[str, Any], task: TaskSpec, before: Mapping[str, str]) -> TurnView:
    number, reply = document["number"], document["reply"]
    decided = {index: one for index, one in restored(document["decided"]).items() if 1 <= index <= len(task.intents)}
    quotes = {f"{number}-{index}": one.quote for index, one in decided.items() if one.quote}
    drawn, found = markdown(reply["text"], quotes)
    return TurnView(
        number=number,
        message=document["message"],
        reply_text=reply["text"],
        reply=drawn,
        note=reply["note"],
        tokens=reply["tokens"],
        milliseconds=reply["milliseconds"],
        calls=tuple(call_view(ToolCall(**call), {}) for call in reply["calls"]),
        changed_files=tuple(changed_files(before, document["manifest"])),
        settled=tuple(
            (int(index), status, task.intents[int(index) - 1].content)
            for index, status in sorted(document["settled"].items(), key=lambda item: int(item[0]))
        ),
        said=tuple(
            Said(f"{number}-{index}", index, number, one, f"{number}-{index}" in found)
            for index, one in sorted(decided.items())
        ),
    )
