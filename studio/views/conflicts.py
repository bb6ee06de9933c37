"""Where two people changed the same place: both versions, and which of them stays."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from studio.domain.base import Spec
from studio.domain.changes import FIELD_LABELS
from studio.domain.diff import Piece, line_pieces
from studio.domain.merge import FieldPath, value_at
from studio.files.previews import decode
from studio.models import Blob

S = TypeVar("S", bound=Spec)
INPUTS = {"intents": "content", "checklist": "criterion"}
"""The input of a row that holds its words."""
NAMES = {
    "initial_request": "the request",
    "role_text": "who they are",
    "source": "the script",
    "text": "SKILL.md",
}
"""What pages call fields for which the history has another word."""
SHOWN = 20_000
"""Characters of a file that both changed, of which one is chosen."""


def conflict_choices(undecided: Iterable[FieldPath], theirs: Spec, mine: Spec) -> list[dict[str, Any]]:
    """What both changed, as the page shows it."""
    return [_choice(place, theirs, mine) for place in undecided]


def _choice(place: FieldPath, theirs: Spec, mine: Spec) -> dict[str, Any]:
    field, row = place[0], place[1] if len(place) > 1 else ""
    rows = [one.uid for one in getattr(mine, field)] if field in INPUTS else []
    words = _words(value_at(theirs, place)), _words(value_at(mine, place))
    pieces = line_pieces(*words)
    return {
        "place": json.dumps(place, ensure_ascii=False),
        "label": _label(place, rows),
        "theirs": _side(pieces, "gone"),
        "mine": _side(pieces, "new"),
        "text": words[0],
        "at": f"{field}.{row}.{INPUTS[field]}" if row in rows else field,
        "input": ".".join(place) if len(place) != 2 else "",
        "beside": (field, row) if row in rows or len(place) == 1 else None,
        "is_text": isinstance(value_at(theirs, place), str),
    }


def conflict_paths(texts: Sequence[str], spec: Spec) -> list[FieldPath]:
    """Places of conflicts as a page sent them; those that are none are left out."""
    return [place for text in dict.fromkeys(texts) if (place := _place(text)) and place[0] in type(spec).model_fields]


def _place(text: str) -> FieldPath:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    fits = isinstance(value, list) and 0 < len(value) < 4 and all(isinstance(one, str) for one in value)
    return tuple(value) if fits else ()


def _label(place: FieldPath, rows: list[str]) -> str:
    if place[0] in INPUTS and len(place) > 1:
        kind = "Intent" if place[0] == "intents" else "Item"
        return f"{kind} {rows.index(place[1]) + 1}" if place[1] in rows else f"{kind} that one of you removed"
    name = NAMES.get(place[0]) or FIELD_LABELS.get(place[0], place[0].replace("_", " ")).removeprefix("the ")
    return name[:1].upper() + name[1:] + (f": {place[1] or '(no name)'}" if len(place) > 1 else "")


def _side(pieces: Iterable[Piece], kind: str) -> list[Piece]:
    """Of the way from one text to the other what one of them says."""
    return [piece for piece in pieces if piece[0] in ("same", kind)]


def _words(value: Any) -> str:
    """A value in words; of a file the beginning of its text."""
    content = value.get("content", value) if isinstance(value, dict) else None
    if not isinstance(content, dict) or "sha256" not in content:
        return _text(value)
    sha256 = content["sha256"]
    read = decode(Blob.objects.read([sha256]).get(sha256, b""))
    if read is None:
        return f"(a file of {content['size']:,} bytes)"
    return read.text if len(read.text) <= SHOWN else f"{read.text[:SHOWN]}…"


def _text(value: Any) -> str:
    if value is None:
        return "(removed)"
    if isinstance(value, dict) and "reference" in value:
        reference = "with a reference" if value["reference"] else ""
        return " – ".join(filter(None, [value["path"], value["note"], reference]))
    if isinstance(value, dict):
        return str(value.get("content") or value.get("criterion") or value)
    if isinstance(value, list):
        return "\n".join(str(one) for one in value)
    return str(value).replace("_", " ") if value in ("session_local", "not_provided") else str(value)
