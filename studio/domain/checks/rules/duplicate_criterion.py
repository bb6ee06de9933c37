from collections.abc import Iterator

from studio.domain.checks.repetition import find_repeats
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("duplicate-criterion", "warning")
def duplicate_criterion(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A repeated criterion counts twice. A hint if only the order of the words differs."""
    for position, first, exactly in find_repeats([item.criterion for item in task.checklist]):
        yield Flaw(
            "checklist",
            f"This is item {first} again." if exactly else f"This says what item {first} says, in another order.",
            "Remove one of the two, or give one of them a higher weight.",
            position,
            passage=task.checklist[position - 1].criterion,
            severity="warning" if exactly else "hint",
        )
