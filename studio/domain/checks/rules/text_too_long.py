from collections.abc import Iterator

from studio.domain.checks.bounds import LONGEST
from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.task import TaskSpec


@rule("text-too-long", "warning")
def text_too_long(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Checks read only so much of a text; the rest is unchecked."""
    for field, item, text in authored_texts(task):
        if len(text) > LONGEST:
            yield Flaw(
                field,
                f"The text has more than {LONGEST:,} characters; what comes after is not checked.",
                "Move the long part into a file and describe it here.",
                item,
            )
