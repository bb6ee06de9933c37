"""A session as people read it: conversation, tool calls, files, and beside it what was made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.template.defaultfilters import pluralize
from django.utils.safestring import SafeString

from evaluation import visibility
from evaluation.models import Session, ToolCall, Turn, Verdict
from evaluation.transcripts.evidence import Places, Spot, place_evidence
from evaluation.transcripts.outcomes import IntentStep, ItemStep, intent_steps, item_steps
from evaluation.transcripts.passages import markdown, plain
from evaluation.workspaces.files import FileRow, changed_files, manifest_before, manifests_before, read_shown
from evaluation.workspaces.snapshots import Manifest
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

TELLING = ("path", "file_path", "name", "title", "subject", "query", "pattern", "to", "url", "command")
"""Arguments that say most about a call, the best first."""
SUMMARY = 90


@dataclass(frozen=True)
class CallView:
    call: ToolCall
    summary: str
    arguments: tuple[tuple[str, SafeString], ...]
    result: SafeString
    evidence: bool


@dataclass(frozen=True)
class SeenFile:
    """A file as it was after a turn, with evidence in it."""

    path: str
    drawn: SafeString


@dataclass(frozen=True)
class TurnView:
    turn: Turn
    message: SafeString
    reply: SafeString
    calls: tuple[CallView, ...]
    changed_files: tuple[FileRow, ...]
    files: tuple[SeenFile, ...]
    intents: tuple[IntentStep, ...]
    """Settled in this turn."""
    items: tuple[ItemStep, ...]
    """First met in this turn."""

    @property
    def summary(self) -> str:
        calls, intents, items = len(self.calls), len(self.intents), len(self.items)
        return (
            f"Turn {self.turn.number}: {calls} tool call{pluralize(calls)}, "
            f"{intents} intent{pluralize(intents)} resolved, {items} item{pluralize(items)} first met"
        )


@dataclass(frozen=True)
class Reading:
    task: TaskSpec
    turns: list[TurnView]
    intents: list[IntentStep]
    items: list[ItemStep]
    given: list[IntentStep]
    """Intents the task gave from the start."""
    manifests_before: Mapping[int, Manifest]
    places: Places = field(default_factory=Places)
    blind: bool = False
    """The reader still judges decisions of this session: nothing here says what the judges held."""

    @property
    def covered(self) -> int:
        return sum(step.status in ("completed", "inferred") for step in self.intents)


def read_session(session: Session, *, blind: bool) -> Reading:
    """Everything the page shows. The number of queries does not depend on the number of turns."""
    task = TaskSpec.model_validate(session.revision.spec)
    persona = PersonaSpec.model_validate(session.run.persona_revision.spec)
    turns = visibility.turns_of(session)
    verdicts: Sequence[Verdict] = () if blind else visibility.verdicts_of(session)
    intents = intent_steps(task, {} if blind else visibility.intents_of(session), verdicts)
    items = item_steps(task, session, verdicts)
    before = manifests_before(session, turns, manifest_before(session, task, persona))
    files = {} if blind else _texts(task, turns)
    places = place_evidence(verdicts, turns, files)
    return Reading(
        task=task,
        turns=[_turn(turn, before[turn.number], places, files.get(turn.number, {}), intents, items) for turn in turns],
        intents=intents,
        items=items,
        given=[step for step in intents if step.turn == 0],
        manifests_before=before,
        places=places,
        blind=blind,
    )


def _texts(task: TaskSpec, turns: Sequence[Turn]) -> dict[int, dict[str, str]]:
    """What judges read of the workspace: by turn and path."""
    named = {rule.path for item in task.checklist if (rule := item.rule) and rule.path}
    paths = [path.strip().removeprefix("./") for path in (*task.files_read, *sorted(named))]
    wanted = {
        turn.number: {path: turn.snapshot.manifest[path] for path in paths if path in turn.snapshot.manifest}
        for turn in turns
    }
    texts = read_shown(sha for files in wanted.values() for sha in files.values())
    return {
        number: {path: texts[sha] for path, sha in files.items() if sha in texts} for number, files in wanted.items()
    }


def _turn(
    turn: Turn,
    before: Manifest,
    places: Places,
    files: Mapping[str, str],
    intents: Sequence[IntentStep],
    items: Sequence[ItemStep],
) -> TurnView:
    number = turn.number
    quoted = {path: places.at(Spot("file", number, path)) for path in files}
    return TurnView(
        turn=turn,
        message=plain(turn.user_message, places.at(Spot("message", number)))[0],
        reply=markdown(turn.reply, places.at(Spot("reply", number)))[0],
        calls=tuple(call_view(call, places.at(Spot("call", number, str(call.pk)))) for call in turn.tool_calls.all()),
        changed_files=tuple(changed_files(before, turn.snapshot.manifest)),
        files=tuple(SeenFile(path, plain(files[path], quotes)[0]) for path, quotes in quoted.items() if quotes),
        intents=tuple(step for step in intents if step.turn == number),
        items=tuple(step for step in items if number in {mark.turn for mark in step.marks}),
    )


def call_view(call: ToolCall, quotes: Mapping[str, str]) -> CallView:
    arguments = call.arguments if isinstance(call.arguments, dict) else {"arguments": call.arguments}
    left = dict(quotes)
    drawn = []
    for name, value in arguments.items():
        text, found = plain(_as_text(value), left)
        left = {key: quote for key, quote in left.items() if key not in found}
        drawn.append((name, text))
    return CallView(call, _summary(arguments), tuple(drawn), _result(call.result, left), bool(quotes))


def _result(text: str, quotes: Mapping[str, str]) -> SafeString:
    """JSON with line breaks, unless a quote stands only in the text as it came."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, (dict, list)):
        drawn, found = plain(json.dumps(value, ensure_ascii=False, indent=2), quotes)
        if len(found) == len(quotes):
            return drawn
    return plain(text, quotes)[0]


def _summary(arguments: Mapping[str, Any]) -> str:
    """One line that says what a call was about."""
    telling = [arguments[name] for name in TELLING if name in arguments]
    value = (telling or list(arguments.values()) or [""])[0]
    line = " ".join(_as_text(value).split())
    return line if len(line) <= SUMMARY else line[: SUMMARY - 1] + "…"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
