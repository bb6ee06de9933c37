from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("setup-unused", "warning", across_tasks=True)
def setup_unused(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A task without criteria counts only through the tasks that depend on it."""
    if not task.is_setup or task.depends_on:
        return
    if not any(task.task_id == d.task_id for other in context.episode.tasks for d in other.depends_on):
        yield Flaw(
            "checklist",
            "Nothing scores this task, and no other task builds on it.",
            "Add criteria, or let a later task depend on it.",
        )
