"""Where a task names its files, so that each can be reached from its file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from studio.forms.tasks import TaskForm


@dataclass(frozen=True)
class Mention:
    label: str
    section: str
    """Of the page."""
    input: str


def mentions_in(sheet: TaskForm) -> dict[str, list[Mention]]:
    """The places by the path of the file they name."""
    found: dict[str, list[Mention]] = {}
    paths = {row["path"] for row in sheet.assets}
    for path, mention in _places(sheet, paths):
        if path in paths and mention not in found.setdefault(path, []):
            found[path].append(mention)
    return found


def _places(sheet: TaskForm, paths: set[str]) -> Iterator[tuple[str, Mention]]:
    for path in paths:
        name = path.rpartition("/")[2]
        if name and re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", sheet.values["initial_request"]):
            yield path, Mention("the request", "request", "initial_request")
    for number, row in enumerate(sheet.intents, 1):
        for place in row["from"]:
            if place["kind"] == "file":
                yield place["ref"], Mention(f"intent {number}", "intents", f"intents.{row['key']}.content")
    for number, row in enumerate(sheet.checklist, 1):
        named = [*row["evidence"].split("\n"), row["rule_path"] if row["grader"] == "rule" else ""]
        for path in named:
            yield path.strip(), Mention(f"item {number}", "checklist", f"checklist.{row['key']}.criterion")
    for path in sheet.values["files_read"].split("\n"):
        yield path.strip(), Mention("what judges see", "seen", "files_read")
