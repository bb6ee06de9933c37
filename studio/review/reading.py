"""A task as reviewers and viewers read it: in sections, each with what changed since the reader's last review."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio.domain.base import fields_of
from studio.domain.checks.rule_proposals import describe_rule
from studio.domain.descriptions import SOURCE_LABELS, describe_value
from studio.domain.diff import FieldChange, compare
from studio.domain.task import ChecklistItem, HiddenIntent, Recovery, TaskSpec
from studio.models import Review, Task, User

SECTIONS = {
    "request": "Request",
    "intents": "Hidden intents",
    "checklist": "Checklist",
    "needs": "Builds on",
    "files": "Files",
    "seen": "What judges see",
    "script": "Grader script",
    "reach": "Tools and skills",
    "workflow": "What a good session leaves behind",
    "about": "About the task",
    "more": "More",
}
"""By the section of the editor that has them."""
ABOUT = {
    name: about
    for name, about in fields_of(TaskSpec).items()
    if not about.exported_only and not name.endswith("source")
}


@dataclass(frozen=True)
class ReadingRow:
    """An intent, an item of the checklist, a task it builds on, or a whole field."""

    text: str
    label: str = ""
    notes: tuple[str, ...] = ()
    """What differs from the usual, in words."""


@dataclass(frozen=True)
class ReadingSection:
    key: str
    heading: str
    rows: tuple[ReadingRow, ...]
    numbered: bool
    changes: tuple[FieldChange, ...]
    """Since the version that the reader reviewed last."""
    digest: str
    """Of what it says: a tick does not outlive it."""


def last_reviewed(task: Task, user: User) -> Review | None:
    """The user's newest review of any version of the task."""
    rows = Review.objects.filter(revision__task=task, reviewer=user).select_related("revision")
    return rows.order_by("-pk").first()


def reading_sections(task: TaskSpec, before: TaskSpec | None, titles: Mapping[str, str]) -> list[ReadingSection]:
    """Without empty ones, unless they were emptied. ``titles``: of the tasks it builds on, by id."""
    changes = compare(before, task) if before else []
    rows: dict[str, list[ReadingRow]] = {key: [] for key in SECTIONS}
    for name, about in ABOUT.items():
        rows[about.section] += _rows_of(task, name, titles)
    sections = []
    for key, heading in SECTIONS.items():
        changed = tuple(change for change in changes if change.field in ABOUT and ABOUT[change.field].section == key)
        if rows[key] or changed:
            said = json.dumps([[row.text, row.label, row.notes] for row in rows[key]])
            digest = hashlib.sha256(said.encode()).hexdigest()[:16]
            numbered = key in ("intents", "checklist")
            sections.append(ReadingSection(key, heading, tuple(rows[key]), numbered, changed, digest))
    return sections


def _rows_of(task: TaskSpec, name: str, titles: Mapping[str, str]) -> list[ReadingRow]:
    if name == "intents":
        return [ReadingRow(intent.content, notes=_notes_on(intent, titles)) for intent in task.intents]
    if name == "checklist":
        numbers = {intent.uid: str(number) for number, intent in enumerate(task.intents, 1)}
        return [ReadingRow(item.criterion, notes=_notes_on_item(item, numbers)) for item in task.checklist]
    if name == "depends_on":
        return [ReadingRow(titles.get(row.task_id, row.task_id), notes=(row.carries_over,)) for row in task.depends_on]
    if name == "trigger" and task.trigger.kind == "user_message":
        return []
    label = "" if name == "initial_request" else ABOUT[name].page or ABOUT[name].label
    value: Any = task.to_json()[name]
    return [ReadingRow(describe_value(value, name), label.removeprefix("the ").capitalize())] if value else []


def _notes_on(intent: HiddenIntent, titles: Mapping[str, str]) -> tuple[str, ...]:
    found = "; ".join(_source(source, titles) for source in intent.recoverable_from)
    return (
        *(("lasts across sessions",) if intent.scope == "persistent" else ()),
        *(("stated at the start",) if intent.initial_status == "provided" else ()),
        *((f"found out from {found}",) if found else ()),
    )


def _source(source: Recovery, titles: Mapping[str, str]) -> str:
    what = f"“{titles[source.ref]}”" if source.ref in titles else source.ref
    return " ".join(filter(None, (SOURCE_LABELS[source.kind], what, source.note and f"({source.note})")))


def _notes_on_item(item: ChecklistItem, numbers: Mapping[str, str]) -> tuple[str, ...]:
    tested = [numbers[uid] for uid in item.follows_from if uid in numbers]
    return (
        *((f"rule: {describe_rule(item.rule)}",) if item.rule else ()),
        *((f"weighs {item.weight:g}",) if item.weight != 1 else ()),
        *((f"tests intent {', '.join(tested)}",) if tested else ()),
        *((f"shown by {', '.join(item.evidence)}",) if item.evidence else ()),
    )
