from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.plan import Gap, episode_shape, find_gaps
from studio.domain.task import TaskSpec


@rule("group-size", "warning", across_tasks=True)
def group_size(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A dependency group has as many tasks as the benchmark's plan says. Reported at its first task; silent while the
    episode is unfinished."""
    for gap in context.once(_gaps):
        if gap.kind == "group-size" and not gap.unfinished and gap.tasks[0] == task.task_id:
            yield Flaw("depends_on", gap.message, gap.fix, other=gap.tasks[-1] if len(gap.tasks) > 1 else "")


def _gaps(context: CheckContext) -> list[Gap]:
    return find_gaps(episode_shape(context.episode), context.plan)
