import re
from collections.abc import Iterator
from typing import Any

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.checks.sources import UNFILLED
from studio.domain.task import TaskSpec

PLACEHOLDER = re.compile(
    r"\b(?:TODO|TBD|FIXME|XXX)\b|(?i:\blorem ipsum\b)|\{\{[^{}]{1,60}\}\}"
    r"|<(?:your|the|client|company|date|name) ?[^<>]{0,30}>"
    r"|\bX{2,}(?= (?:euros?|pounds?|dollars?|per ?cent|%|people|guests|days|words|minutes|hours)\b)|[€£$] ?X{2,}\b"
)
SIGNS = ("TODO", "TBD", "FIXME", "XX", "{{", "<", "[", "___")
"""One of them is in all that the patterns match, apart from “lorem ipsum”."""
BLANK = re.compile(r"\[[A-Z][A-Z _-]{2,40}\]|(?<!\w)_{3,}(?!\w)")
"""Possibly intended: forms have blanks."""


@rule("to-fill-in", "warning")
def to_fill_in(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A blank of a template. Nothing is wrong with a task that was just begun, but it cannot be approved like this."""
    for field, item, text in (*authored_texts(task), *_other_texts(task)):
        if match := UNFILLED.search(text):
            yield Flaw(field, f"To fill in: “{match[0]}”.", "Replace it by your own text.", item, passage=match[0])


@rule("placeholder", "warning")
def placeholder(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Text that should have been replaced before anyone reads the task."""
    for field, item, text in (*authored_texts(task), *_other_texts(task)):
        if UNFILLED.search(text) or not _may_have_one(text):
            continue
        if match := PLACEHOLDER.search(text):
            yield Flaw(
                field, (f"“{match[0]}” should have been replaced."), "Replace the placeholder.", item, passage=match[0]
            )
        elif match := BLANK.search(text):
            message = f"“{match[0]}” looks like a blank to fill in."
            yield Flaw(field, message, "Replace the placeholder.", item, passage=match[0], severity="hint")


def _may_have_one(text: str) -> bool:
    """False only if neither pattern can match; many times quicker than the two."""
    return any(sign in text for sign in SIGNS) or "lorem ipsum" in text.casefold()


def _other_texts(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    yield "trigger", None, " ".join(_texts(task.trigger.payload))
    for position, dependency in enumerate(task.depends_on, 1):
        yield "depends_on", position, dependency.carries_over


def _texts(value: Any) -> Iterator[str]:
    pending = [value]
    while pending:
        match pending.pop():
            case str() as text:
                yield text
            case dict() as mapping:
                pending += reversed(mapping.values())
            case list() as rows:
                pending += reversed(rows)
