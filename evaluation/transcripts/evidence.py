"""Locating the quotes of verdicts in a session."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluation.models import ToolCall, Turn, Verdict
from evaluation.transcripts.passages import find_quote

LocationKind = Literal["reply", "message", "call", "file"]


@dataclass(frozen=True)
class EvidenceLocation:
    """A text of a session: a message, a reply, a tool call, or a file after a turn."""

    kind: LocationKind
    turn: int
    name: str = ""
    """A call's key, or a file's path."""


@dataclass
class LocatedEvidence:
    by_location: dict[EvidenceLocation, dict[str, str]] = field(default_factory=dict)
    """Quotes in each text, by the verdict's primary key."""
    by_key: dict[str, EvidenceLocation] = field(default_factory=dict)

    def at(self, location: EvidenceLocation) -> dict[str, str]:
        return self.by_location.get(location, {})


def locate_evidence(
    verdicts: Iterable[Verdict], turns: Sequence[Turn], files: Mapping[int, Mapping[str, str]], *, on_work: bool
) -> LocatedEvidence:
    """Find each quote in what its judge saw, likeliest text first. ``files`` are texts by turn and path; ``on_work``:
    judges saw the whole session."""
    by_number = {turn.number: turn for turn in turns}
    located = LocatedEvidence()
    for verdict in verdicts:
        if not verdict.quote.strip() or verdict.turn not in by_number:
            continue
        for location, text in _searched_texts(verdict, by_number, files, on_work=on_work):
            if find_quote(text, verdict.quote) is not None:
                key = str(verdict.pk)
                located.by_location.setdefault(location, {})[key] = verdict.quote
                located.by_key[key] = location
                break
    return located


def call_text(call: ToolCall) -> str:
    """Its values, and what judges see: its arguments as JSON, and what it changed."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return "\n".join([*map(str, _leaves(call.arguments)), call.result, f"arguments: {arguments}", *call.changes])


def _searched_texts(
    verdict: Verdict, turns: Mapping[int, Turn], files: Mapping[int, Mapping[str, str]], *, on_work: bool
) -> Iterable[tuple[EvidenceLocation, str]]:
    number = verdict.turn
    yield EvidenceLocation("reply", number), turns[number].reply
    if verdict.kind == Verdict.Kind.FOLLOW_UP:
        return
    for path, text in files.get(number, {}).items():
        yield EvidenceLocation("file", number, path), text
    if verdict.kind == Verdict.Kind.SATISFACTION and not on_work:
        return
    for earlier in range(number, 0, -1):
        if earlier in turns:
            if on_work and earlier < number:
                yield EvidenceLocation("reply", earlier), turns[earlier].reply
                for path, text in files.get(earlier, {}).items():
                    yield EvidenceLocation("file", earlier, path), text
            for call in turns[earlier].tool_calls.all():
                yield EvidenceLocation("call", earlier, str(call.pk)), call_text(call)
            yield EvidenceLocation("message", earlier), turns[earlier].user_message


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value
