from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("duplicate-title", "warning", across_tasks=True)
def duplicate_title(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Tasks with the same title cannot be told apart in lists and reports. Reported at the later one."""
    title = " ".join(task.title.split()).casefold()
    for other in context.earlier(task):
        if title and " ".join(other.title.split()).casefold() == title:
            yield Flaw(
                "title",
                f"“{other.task_id}” has the same title.",
                "Use a title that sets this task apart.",
                passage=task.title,
                other=other.task_id,
            )
            return
