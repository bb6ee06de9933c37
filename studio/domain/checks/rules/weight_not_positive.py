from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("weight-not-positive", "error")
def weight_not_positive(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A weight is a number greater than 0."""
    for position, item in enumerate(task.checklist, 1):
        if not 0 < item.weight < float("inf"):
            yield Flaw("checklist", f"The weight is {item.weight:g}.", "Enter a number greater than 0.", position)
