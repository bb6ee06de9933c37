from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("dependent-unscored", "error")
def dependent_unscored(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A group is scored at its last task."""
    if task.depends_on and task.is_setup:
        yield Flaw(
            "checklist",
            "The task builds on earlier ones and nothing scores it.",
            "Add criteria or a grader script, or remove its dependencies.",
        )
