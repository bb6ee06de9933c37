"""Which texts of a task a model proposed, as exports and packs tell it: texts not named are people's own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from studio.domain.base import JsonDict, Spec, fields_of
from studio.domain.storable import storable
from studio.domain.task import TaskSpec

ORIGINS_FILE = "origins.json"
"""Beside the personas' ``data`` in an export. A pack says the same in its manifest, task by task."""
KEY = "proposed_texts"
ROWS = {"intents": "content", "checklist": "criterion"}
"""The text of a row, by the field of a TaskSpec."""


class TextOrigin(Spec):
    """A text that a model proposed and whose words still stand there."""

    field: Annotated[str, Field(max_length=60)]
    row: Annotated[int, Field(ge=0, le=10_000)] = 0
    """1-based; 0 for a field without rows."""
    model: Annotated[str, Field(min_length=1, max_length=320)]
    scripted: bool = False
    """A script proposed it, no model."""
    edited: bool = False
    """Whether people changed it since."""

    def place_in(self, task: TaskSpec) -> tuple[str, str] | None:
        """The uid of its row, empty for a field, and its text. None if the task has no such text, or proposals cannot
        write it."""
        rows: Sequence[Any] = getattr(task, self.field) if self.field in ROWS else ()
        if rows:
            row = rows[self.row - 1] if 0 < self.row <= len(rows) else None
            return (row.uid, getattr(row, ROWS[self.field])) if row else None
        about = fields_of(TaskSpec).get(self.field)
        return ("", getattr(task, self.field)) if about and about.prose and not self.row else None


Name = tuple[str, str]
"""Persona and task id."""
Origins = Mapping[Name, Sequence[TextOrigin]]
_ORIGINS = TypeAdapter(tuple[TextOrigin, ...])
_read: Callable[[Mapping[int, TaskSpec]], Mapping[int, Sequence[TextOrigin]]] = lambda tasks: {}  # noqa: E731


def register_origins_reader(read: Callable[[Mapping[int, TaskSpec]], Mapping[int, Sequence[TextOrigin]]]) -> None:
    global _read
    _read = read


def known_origins(tasks: Mapping[int, TaskSpec]) -> Mapping[int, Sequence[TextOrigin]]:
    """By the task's key, as are ``tasks``."""
    return _read(tasks)


def origins_file(origins: Origins) -> dict[str, bytes]:
    """By path; none if no model proposed anything."""
    rows = [{"persona": persona, "task": task, KEY: to_rows(own)} for (persona, task), own in origins.items() if own]
    content = json.dumps({"tasks": rows}, ensure_ascii=False, indent=1).encode() + b"\n"
    return {ORIGINS_FILE: content} if rows else {}


def to_rows(origins: Iterable[TextOrigin]) -> list[JsonDict]:
    return [origin.model_dump(mode="json", exclude_defaults=True) for origin in origins]


def read_origins(document: object) -> dict[Name, tuple[TextOrigin, ...]]:
    """Of such a file or a manifest, one for each place: the last. Tasks of which something else is said than this
    format knows are left out."""
    found: dict[Name, tuple[TextOrigin, ...]] = {}
    rows = document.get("tasks") if isinstance(document, dict) else None
    for row in rows if isinstance(rows, list) else ():
        persona, task, told = (
            (row.get(name) for name in ("persona", "task", KEY)) if isinstance(row, dict) else [None] * 3
        )
        if isinstance(persona, str) and isinstance(task, str) and told:
            try:
                rows_told = _ORIGINS.validate_python(storable(told))
            except ValidationError:
                continue
            found[persona, task] = tuple({(each.field, each.row): each for each in rows_told}.values())
    return found
