"""What turns are found by in searches of transcripts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from django.contrib.postgres.search import SearchVector
from django.db.models import Value

from evaluation.models import ToolCall, Turn, TurnWords

OF_PART, OF_TURN = 20_000, 200_000
"""Characters that are searched. A vector must stay below a megabyte, or the turn could not be stored."""


def said_in(turn: Turn, calls: Iterable[ToolCall]) -> list[str]:
    """In words: by the user, the agent and its tools."""
    beside = [each["text"] for each in (*turn.remarks, *turn.aside)]
    texts = [turn.user_message, turn.reply, *beside]
    for call in calls:
        texts += [f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}", call.result]
    return _within_limits(texts)


def thought_in(turn: Turn) -> list[str]:
    return _within_limits([each["text"] for each in turn.thoughts])


def words_of(turn: Turn, calls: Iterable[ToolCall]) -> TurnWords:
    """Not saved."""
    thoughts = thought_in(turn)
    return TurnWords(turn=turn, said=_vector(said_in(turn, calls)), thought=_vector(thoughts) if thoughts else None)


def _vector(texts: Sequence[str]) -> SearchVector:
    return SearchVector(Value("\n".join(texts)), config="english")


def _within_limits(texts: Iterable[str]) -> list[str]:
    left, parts = OF_TURN, []
    for text in texts:
        part = text[: min(OF_PART, left)]
        left -= len(part)
        if part.strip():
            parts.append(part)
    return parts
