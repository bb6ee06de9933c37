"""Where a task mentions its files, to link each file to those fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from studio.forms.tasks import TaskForm


@dataclass(frozen=True)
class Mention:
    label: str
    section: str
    input: str


def mentions_in(form: TaskForm) -> dict[str, list[Mention]]:
    by_path: dict[str, list[Mention]] = {}
    paths = {row["path"] for row in form.assets}
    for path, mention in _mentions(form, paths):
        if path in paths and mention not in by_path.setdefault(path, []):
            by_path[path].append(mention)
    return by_path


def _mentions(form: TaskForm, paths: set[str]) -> Iterator[tuple[str, Mention]]:
    for path in paths:
        name = path.rpartition("/")[2]
        if name and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", form.values["initial_request"]):
            yield path, Mention("the request", "request", "initial_request")
    for number, row in enumerate(form.intents, 1):
        for source in row["from"]:
            if source["kind"] == "file":
                yield source["ref"], Mention(f"intent {number}", "intents", f"intents.{row['key']}.content")
    for number, row in enumerate(form.checklist, 1):
        named = [*row["evidence"].split("\n"), row["rule_path"] if row["grader"] == "rule" else ""]
        for path in named:
            yield path.strip(), Mention(f"item {number}", "checklist", f"checklist.{row['key']}.criterion")
    for path in form.values["files_read"].split("\n"):
        yield path.strip(), Mention("what judges see", "seen", "files_read")
