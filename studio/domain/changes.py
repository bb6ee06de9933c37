"""Names and summaries of the fields that changed between two versions of a task or persona."""

from __future__ import annotations

from collections.abc import Sequence

from studio.domain.base import JsonDict, Spec, is_same
from studio.domain.fields import fields_of
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

FIELD_LABELS = {name: about.label for name, about in fields_of(TaskSpec, PersonaSpec).items()} | {
    "episode": "the episode"
}


def changed_fields(old: Spec, new: Spec) -> list[str]:
    """Names of the fields that differ, in the spec's order. ``source`` fields count only if nothing else differs."""
    return content_fields(differing_fields(old, new))


def content_fields(fields: Sequence[str]) -> list[str]:
    """Without ``source`` fields, unless there are no others."""
    return [name for name in fields if not name.endswith("source")] or list(fields)


def differing_fields(old: Spec, new: Spec) -> list[str]:
    """Names of the fields that differ, in the spec's order."""
    return differing_keys(old.to_json(), new.to_json())


def differing_keys(before: JsonDict, after: JsonDict) -> list[str]:
    """``differing_fields`` of two documents, of which the first has all fields."""
    return [name for name in before if not is_same(before[name], after[name])]


def describe_changes(fields: Sequence[str]) -> str:
    labels = [FIELD_LABELS.get(name, name) for name in fields]
    if not labels:
        return "Nothing changed."
    if len(labels) == 1:
        return f"Changed {labels[0]}."
    return f"Changed {', '.join(labels[:-1])} and {labels[-1]}."


def save_summary(version: int, fields: Sequence[str], *, verb: str, note: str = "") -> str:
    created = "Imported." if verb == "imported" else "Created."
    return " ".join(filter(None, [note, created if version == 1 else describe_changes(fields)]))
