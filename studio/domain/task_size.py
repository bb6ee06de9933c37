"""Limits on the size of a task: beyond them no page shows it well and no check reads it in a bearable time."""

from __future__ import annotations

from collections.abc import Iterator

from studio.domain.fields import fields_of
from studio.domain.task import TaskSpec

TITLE_LENGTH = 300
"""Characters."""


def size_problems(spec: TaskSpec) -> Iterator[tuple[str, str, str]]:
    """Fields beyond a limit, each with what is wrong and how to fix it."""
    if len(spec.title) > TITLE_LENGTH:
        yield (
            "title",
            f"The title has {len(spec.title):,} characters; the limit is {TITLE_LENGTH}.",
            "Shorten it; the description has room for more.",
        )
    for field, about in fields_of(TaskSpec).items():
        if about.most and (count := len(getattr(spec, field))) > about.most:
            label = (about.page or about.label).removeprefix("the ")
            message = f"There are {count:,} rows in “{label}”; the limit is {about.most}."
            yield field, message, "Split it into several tasks."
