from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.dependencies import dependency_groups
from studio.domain.task import TaskSpec


@rule("too-many-groups", "warning", across_tasks=True)
def too_many_groups(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An episode has as many dependency groups as the benchmark's plan says. Reported at the first task of each extra
    group."""
    groups = context.once(_groups)
    for group in groups[context.plan.groups :]:
        if group[0] == task.task_id:
            yield Flaw(
                "depends_on",
                f"The episode has {len(groups)} dependency groups, and the plan is {context.plan.groups}.",
                "Remove a group, or change the benchmark's plan.",
            )


def _groups(context: CheckContext) -> list[tuple[str, ...]]:
    return dependency_groups(context.episode.tasks)
