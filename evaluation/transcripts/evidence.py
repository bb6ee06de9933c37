"""Where in a session the words stand that a judge pointed to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evaluation.models import ToolCall, Turn, Verdict
from evaluation.transcripts.passages import find

SpotKind = Literal["reply", "message", "call", "file"]


@dataclass(frozen=True)
class Spot:
    """One text of a session: a message, a reply, a tool call, or a file after a turn."""

    kind: SpotKind
    turn: int
    name: str = ""
    """Of a call its row's key, of a file its path."""


@dataclass
class Places:
    """Which evidence stands where."""

    by_spot: dict[Spot, dict[str, str]] = field(default_factory=dict)
    """Spot → the quotes that stand in it, by the verdict's key."""
    by_key: dict[str, Spot] = field(default_factory=dict)

    def at(self, spot: Spot) -> dict[str, str]:
        return self.by_spot.get(spot, {})


def place_evidence(
    verdicts: Iterable[Verdict], turns: Sequence[Turn], files: Mapping[int, Mapping[str, str]]
) -> Places:
    """Look each quote up in what its judge saw, the likeliest text first. ``files`` are texts by turn and path."""
    by_number = {turn.number: turn for turn in turns}
    places = Places()
    for verdict in verdicts:
        if not verdict.quote.strip() or verdict.turn not in by_number:
            continue
        for spot, text in _seen(verdict, by_number, files):
            if find(text, verdict.quote) is not None:
                key = str(verdict.pk)
                places.by_spot.setdefault(spot, {})[key] = verdict.quote
                places.by_key[key] = spot
                break
    return places


def call_text(call: ToolCall) -> str:
    """Arguments and result, as they are searched."""
    return "\n".join([*map(str, _leaves(call.arguments)), call.result])


def _seen(
    verdict: Verdict, turns: Mapping[int, Turn], files: Mapping[int, Mapping[str, str]]
) -> Iterable[tuple[Spot, str]]:
    number = verdict.turn
    yield Spot("reply", number), turns[number].reply
    if verdict.kind == Verdict.Kind.FOLLOW_UP:
        return
    for path, text in files.get(number, {}).items():
        yield Spot("file", number, path), text
    if verdict.kind == Verdict.Kind.SATISFACTION:
        return
    for earlier in range(number, 0, -1):
        if earlier in turns:
            for call in turns[earlier].tool_calls.all():
                yield Spot("call", earlier, str(call.pk)), call_text(call)
            yield Spot("message", earlier), turns[earlier].user_message


def _leaves(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        for inner in value.values():
            yield from _leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    else:
        yield value
