"""Conflicts on an editor page: both versions of a field, to choose from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from studio.domain.anchors import ROW_TEXTS
from studio.domain.base import Spec, fields_of
from studio.domain.diff import FIELD_LABELS, Piece, line_pieces
from studio.domain.merge import FieldPath, value_at
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.files.previews import decode
from studio.models import Blob

S = TypeVar("S", bound=Spec)
FIELD_NAMES = {
    **{name: about.page for name, about in fields_of(TaskSpec, PersonaSpec).items() if about.page},
    "source": "the script",
    "text": "the text",
}
"""Field names that differ from those in the history."""
MAX_FILE_TEXT = 20_000
"""Characters shown of a file in conflict."""


def conflict_rows(unresolved: Iterable[FieldPath], theirs: Spec, mine: Spec, *, own: bool) -> list[dict[str, Any]]:
    """``own``: the same person saved the other version."""
    return [_conflict_row(path, theirs, mine) | {"own": own} for path in unresolved]


def _conflict_row(path: FieldPath, theirs: Spec, mine: Spec) -> dict[str, Any]:
    field, row = path[0], path[1] if len(path) > 1 else ""
    rows = [item.uid for item in getattr(mine, field)] if field in ROW_TEXTS else []
    their_text = _text_of(value_at(theirs, path))
    pieces = line_pieces(their_text, _text_of(value_at(mine, path)))
    return {
        "path": json.dumps(path, ensure_ascii=False),
        "label": _label(path, rows),
        "theirs": _side(pieces, "gone"),
        "mine": _side(pieces, "new"),
        "text": their_text,
        "at": f"{field}.{row}.{ROW_TEXTS[field]}" if row in rows else field,
        "input": ".".join(path) if len(path) != 2 else "",
        "beside": (field, row) if row in rows or len(path) == 1 else None,
        "is_text": isinstance(value_at(theirs, path), str),
    }


def conflict_paths(texts: Sequence[str], spec: Spec) -> list[FieldPath]:
    """Paths of conflicts as a page sent them, without invalid ones."""
    return [path for text in dict.fromkeys(texts) if (path := _path(text)) and path[0] in type(spec).model_fields]


def _path(text: str) -> FieldPath:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    is_path = isinstance(value, list) and 0 < len(value) < 4 and all(isinstance(part, str) for part in value)
    return tuple(value) if is_path else ()


def _label(path: FieldPath, rows: list[str]) -> str:
    if path[0] in ROW_TEXTS and len(path) > 1:
        kind = "Intent" if path[0] == "intents" else "Item"
        return f"{kind} {rows.index(path[1]) + 1}" if path[1] in rows else f"{kind} that one of you removed"
    name = FIELD_NAMES.get(path[0]) or FIELD_LABELS.get(path[0], path[0].replace("_", " ")).removeprefix("the ")
    return name[:1].upper() + name[1:] + (f": {path[1] or '(no name)'}" if len(path) > 1 else "")


def _side(pieces: Iterable[Piece], kind: str) -> list[Piece]:
    """The pieces of a diff that belong to one of its texts: ``gone`` or ``new``."""
    return [piece for piece in pieces if piece[0] in ("same", kind)]


def _text_of(value: Any) -> str:
    """A value as text; of a file, the beginning of its content."""
    content = value.get("content", value) if isinstance(value, dict) else None
    if not isinstance(content, dict) or "sha256" not in content:
        return _plain_text(value)
    sha256 = content["sha256"]
    decoded = decode(Blob.objects.read([sha256]).get(sha256, b""))
    if decoded is None:
        return f"(a file of {content['size']:,} bytes)"
    return decoded.text if len(decoded.text) <= MAX_FILE_TEXT else f"{decoded.text[:MAX_FILE_TEXT]}…"


def _plain_text(value: Any) -> str:
    if value is None:
        return "(removed)"
    if isinstance(value, dict) and "reference" in value:
        reference = "with a reference" if value["reference"] else ""
        return " – ".join(filter(None, [value["path"], value["note"], reference]))
    if isinstance(value, dict):
        return str(value.get("content") or value.get("criterion") or value)
    if isinstance(value, list):
        return "\n".join(str(entry) for entry in value)
    return str(value).replace("_", " ") if value in ("session_local", "not_provided") else str(value)
