"""Limits on the size of a task: beyond them no page shows it well and no check reads it in a bearable time."""

from __future__ import annotations

from collections.abc import Iterator

from studio.domain.task import TaskSpec

TITLE_LENGTH = 300
"""Characters."""
MOST = {
    "intents": (300, "hidden intents"),
    "checklist": (500, "checklist items"),
    "depends_on": (300, "dependencies"),
    "files_read": (500, "files to read"),
    "tool_evidence": (300, "tools shown to judges"),
    "expected_artifacts": (300, "expected files"),
}


def size_problems(spec: TaskSpec) -> Iterator[tuple[str, str, str]]:
    """Fields beyond a limit, each with what is wrong and how to fix it."""
    if len(spec.title) > TITLE_LENGTH:
        yield (
            "title",
            f"The title has {len(spec.title):,} characters; the limit is {TITLE_LENGTH}.",
            "Shorten it; the description has room for more.",
        )
    for field, (most, label) in MOST.items():
        if (count := len(getattr(spec, field))) > most:
            yield field, f"The task has {count:,} {label}; the limit is {most}.", "Split it into several tasks."
