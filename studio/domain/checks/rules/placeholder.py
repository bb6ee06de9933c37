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
BLANK = re.compile(r"\[[A-Z][A-Z _-]{2,40}\]|(?<!\w)_{3,}(?!\w)")
"""May be meant: forms have blanks."""


@rule("placeholder", "warning")
def placeholder(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Words that were to be replaced before anyone reads the task; what is left to fill in is an error."""
    for field, item, text in (*authored_texts(task), *_further(task)):
        if found := UNFILLED.search(text):
            yield Flaw(
                field,
                f"“{found[0]}” still needs to be filled in.",
                "Replace the placeholder.",
                item,
                words=found[0],
                severity="error",
            )
        elif found := PLACEHOLDER.search(text):
            yield Flaw(
                field, (f"“{found[0]}” should have been replaced."), "Replace the placeholder.", item, words=found[0]
            )
        elif found := BLANK.search(text):
            message = f"“{found[0]}” looks like a blank to fill in."
            yield Flaw(field, message, "Replace the placeholder.", item, words=found[0], severity="hint")


def _further(task: TaskSpec) -> Iterator[tuple[str, int | None, str]]:
    """What else is written by hand and not shown as text of its own."""
    yield "trigger", None, " ".join(_texts(task.trigger.payload))
    for position, need in enumerate(task.depends_on, 1):
        yield "depends_on", position, need.carries_over


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                yield text
            case dict() as mapping:
                waiting += reversed(mapping.values())
            case list() as rows:
                waiting += reversed(rows)
