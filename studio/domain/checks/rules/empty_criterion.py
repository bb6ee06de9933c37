from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("empty-criterion", "warning")
def empty_criterion(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An item without a criterion is stored but never graded."""
    for position, item in enumerate(task.checklist, 1):
        if not item.criterion.strip():
            yield Flaw(
                "checklist",
                ("The item has no criterion and is not graded."),
                "Write a criterion, or remove the item.",
                position,
            )
