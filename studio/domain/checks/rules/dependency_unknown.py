from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("dependency-unknown", "error", across_tasks=True)
def dependency_unknown(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency is a task of the same episode."""
    placed = {other.task_id for other in context.episode.tasks}
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id not in placed and dependency.task_id != task.task_id:
            yield Flaw(
                "depends_on",
                f"The episode has no task “{dependency.task_id}”.",
                "Choose an earlier task of the episode, or remove this dependency.",
                position,
                other=dependency.task_id,
            )
