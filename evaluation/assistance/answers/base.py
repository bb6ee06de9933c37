"""What all answers share: their JSON schema, cleaned and limited text, and checks of what they name."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from evaluation.assistance.kinds import ROW_FIELDS
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError
from studio.domain.storable import normalize_newlines

MAX_ROW_TEXT = 2_000
"""Characters of an intent or criterion."""
MAX_TEXT = 20_000
"""Characters of any other text."""
MAX_NOTE = 600
"""Characters of a reason or quote."""
MAX_ROWS = 12
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


def strict_schema(schema: dict[str, Any]) -> None:
    """All fields required, no others allowed, as endpoints with structured outputs demand."""
    schema["required"] = list(schema.get("properties", ()))
    schema["additionalProperties"] = False


class AnswerModel(BaseModel):
    """Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", json_schema_extra=strict_schema)


def clean_text(text: str) -> str:
    """Remove control characters and marks that hide or reorder text; normalize line breaks."""
    normalized = normalize_newlines(text)
    return _HIDDEN.sub("", normalized.encode("utf-8", "replace").decode()).strip()


def max_length(field: str, before: str) -> int:
    """Characters allowed for new text of a field: twice the current text, as translations grow."""
    return max(MAX_ROW_TEXT if field in ROW_FIELDS else MAX_TEXT, 2 * len(before))


def clean_within(text: str, limit: int) -> str:
    cleaned = clean_text(text)
    if len(cleaned) > limit:
        raise UnusableAnswerError(f"A text has {len(cleaned)} characters; at most {limit} are of use.")
    return cleaned


def clean_note(text: str) -> str:
    return " ".join(clean_text(text).split())[:MAX_NOTE]


def comparable(text: str) -> str:
    return " ".join(text.split()).casefold()


def lost_numbers(before: str, after: str) -> tuple[str, ...]:
    present = set(_NUMBER.findall(after))
    lost = list(dict.fromkeys(number for number in _NUMBER.findall(before) if number not in present))
    return (f"Not in it any more: {', '.join(lost[:8])}.",) if lost else ()


def require_intent(number: int, material: Material) -> None:
    if not 1 <= number <= len(material.task.intents):
        raise UnusableAnswerError(f"There is no hidden intent {str(number)[:20]}.")


Row = TypeVar("Row")


def read_rows(rows: Sequence[Row], read: Callable[[Row], ProposedChange | None]) -> tuple[ProposedChange, ...]:
    """What is read of each row. One that names something unknown costs itself, and all of them the answer."""
    changes, problems = [], []
    for row in rows:
        try:
            change = read(row)
        except UnusableAnswerError as error:
            problems.append(error)
        else:
            changes += [change] if change else []
    if problems and not changes:
        raise problems[0]
    return tuple(changes)
