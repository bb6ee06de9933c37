from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("dependency-itself", "error")
def dependency_itself(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task cannot come before itself."""
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id == task.task_id:
            yield Flaw("depends_on", "The task depends on itself.", "Remove this dependency.", position)
