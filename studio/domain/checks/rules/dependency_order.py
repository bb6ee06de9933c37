from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("dependency-order", "error", across_tasks=True)
def dependency_order(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency runs before the task that needs it."""
    order = [other.task_id for other in context.episode.tasks]
    if task.task_id not in order:
        return
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id in order and order.index(dependency.task_id) > order.index(task.task_id):
            yield Flaw(
                "depends_on",
                f"“{dependency.task_id}” runs later than this task.",
                "Move one of the two, or remove this dependency.",
                position,
                other=dependency.task_id,
            )
