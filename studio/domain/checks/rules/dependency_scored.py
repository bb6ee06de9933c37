from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("dependency-scored", "error", across_tasks=True)
def dependency_scored(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task that others build on is scored through them and has neither criteria nor a grader of its own."""
    for position, dependency in enumerate(task.depends_on, 1):
        other = context.task(dependency.task_id)
        if other is not None and not other.is_setup:
            yield Flaw(
                "depends_on",
                (
                    f"“{dependency.task_id}” has its own scoring, but a task that others "
                    f"build on should be scored through them."
                ),
                "Move its checklist and its script to this task, or remove this dependency.",
                position,
                other=dependency.task_id,
            )
