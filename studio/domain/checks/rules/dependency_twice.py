from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("dependency-twice", "error")
def dependency_twice(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Each dependency is listed once; otherwise its intents would count twice."""
    seen = set()
    for position, dependency in enumerate(task.depends_on, 1):
        if dependency.task_id in seen:
            yield Flaw(
                "depends_on",
                f"“{dependency.task_id}” is named twice.",
                "Remove one of the two.",
                position,
                other=dependency.task_id,
            )
        seen.add(dependency.task_id)
