from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("unplaced", "warning", across_tasks=True)
def unplaced(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task outside the episode never runs."""
    if not any(other.task_id == task.task_id for other in context.episode.tasks):
        yield Flaw(
            "task_id",
            "The task is not in the episode and never runs.",
            "Place it on the episode's board, or retire it.",
        )
