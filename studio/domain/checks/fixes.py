"""One-click fixes for findings whose correct fix is certain; a rule names its own as ``one_click``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studio.domain.base import fields_of
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import RULES, FixBuilder
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.fixes import AppendRow, Fix, RemoveRow, SetValue
from studio.domain.task import TaskSpec

FIELDS = fields_of(TaskSpec)


def fix_for(finding: Finding, episode: EpisodeSpec) -> Fix | None:
    """None if a person has to decide."""
    task, rule = episode.task(finding.task), RULES.get(finding.rule)
    return rule.one_click(finding, task, episode) if task and rule and rule.one_click else None


def remove_row(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    if finding.item is None:
        return None
    noun = FIELDS[finding.field].row
    label, effect = f"Remove {noun} {finding.item}", f"{noun.capitalize()} {finding.item} is removed."
    if finding.field == "depends_on":
        other = episode.task_label(finding.other or task.task_id)
        label, effect = f"Remove the {noun}", f"The task no longer depends on {other} here."
    return Fix(label=label, effect=effect, edits=(RemoveRow(field=finding.field, item=finding.item),))


def set_part(label: str, effect: str, part: str, value: Any) -> FixBuilder:
    """Of the finding's row. ``effect`` follows its name."""

    def build(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix:
        row = f"{FIELDS[finding.field].row.capitalize()} {finding.item}"
        edit = SetValue(field=finding.field, item=finding.item, part=part, value=value)
        return Fix(label=label, effect=f"{row} {effect}", edits=(edit,))

    return build


def show_judges(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
    """The file in the finding's ``data``."""
    edit = AppendRow(field="files_read", value=finding.data)
    effect = f"Judges are shown “{finding.data}”."
    return Fix(label="Show it to the judges", effect=effect, edits=(edit,)) if finding.data else None


def change_text(label: str, change: Callable[[str, Finding], str]) -> FixBuilder:
    """Of the finding's field or row, unless that leaves it as it is. ``label`` may have the finding's ``data``."""

    def build(finding: Finding, task: TaskSpec, episode: EpisodeSpec) -> Fix | None:
        value = getattr(task, finding.field)
        part = (FIELDS[finding.field].row_text or "note") if finding.item else ""
        text = getattr(value[finding.item - 1], part) if finding.item else value
        if not isinstance(text, str) or (new := change(text, finding)) == text:
            return None
        return Fix(
            label=label.format(data=quote(finding.data)),
            effect=f"The text becomes {quote(_excerpt(text, new))}.",
            edits=(SetValue(field=finding.field, item=finding.item, part=part, value=new),),
        )

    return build


def _excerpt(old: str, new: str) -> str:
    position = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = new.rfind(" ", 0, max(0, position - 30)) + 1
    return ("… " if start else "") + new[start : start + 100]
