"""Where two people changed the same place of a task: both versions, and which of them stays."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from studio.models import Blob
from studio.previews import decode
from studio.spec.changes import WORDS
from studio.spec.merging import Conflict, take_theirs, value_at
from studio.spec.task import TaskSpec

INPUTS = {"intents": "content", "checklist": "criterion"}
"""The input of a row that holds its words."""
SHOWN = 20_000
"""Characters of a file that both changed, of which one is chosen."""


def choices(undecided: list[list[str]], theirs: TaskSpec, mine: TaskSpec) -> list[dict[str, Any]]:
    """What both changed, as the page shows it."""
    return [
        {
            "place": "|".join(place),
            "label": _label(place, mine, theirs),
            "theirs": _words(value_at(theirs, place)),
            "mine": _words(value_at(mine, place)),
            "input": _input(place),
        }
        for place in undecided
    ]


def decide(data: QueryDict, theirs: TaskSpec, spec: TaskSpec) -> tuple[TaskSpec, list[list[str]]]:
    """The task after one choice, and what is left to choose."""
    undecided = places(data.getlist("undecided"))
    for name in ("take", "mine"):
        for place in places(data.getlist(name)):
            undecided = [one for one in undecided if one != place]
            if name == "take":
                spec = take_theirs(spec, theirs, place)
    return spec, undecided


def place_of(conflict: Conflict) -> list[str]:
    return [conflict.field, conflict.row, conflict.part]


def places(texts: list[str]) -> list[list[str]]:
    """Places of conflicts as a page sent them; those that are none are left out."""
    split = [text.split("|") for text in dict.fromkeys(texts)]
    return [place for place in split if len(place) == 3 and place[0] in TaskSpec.model_fields]


def _input(place: list[str]) -> str:
    field, row, part = place
    return f"{field}.{row}.{part}" if field in INPUTS and row else field


def _label(place: list[str], mine: TaskSpec, theirs: TaskSpec) -> str:
    name = WORDS.get(place[0], place[0]).removeprefix("the ")
    rows = getattr(mine, place[0])
    if place[0] in INPUTS:
        number = next((at for at, row in enumerate(rows, 1) if row.uid == place[1]), None)
        kind = "Intent" if place[0] == "intents" else "Item"
        return f"{kind} {number}" if number else f"{kind} that one of you removed"
    return name[:1].upper() + name[1:] + (f": {place[1]}" if place[1] else "")


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
    if isinstance(value, dict):
        return str(value.get("content") or value.get("criterion") or value)
    if isinstance(value, list):
        return "\n".join(str(one) for one in value)
    return str(value).replace("_", " ") if value in ("session_local", "not_provided") else str(value)
