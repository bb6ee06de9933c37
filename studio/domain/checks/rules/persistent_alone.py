from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("persistent-alone", "warning", across_tasks=True)
def persistent_alone(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A persistent intent comes from an earlier session, or is established here for a later one."""
    if all(intent.scope != "persistent" for intent in task.intents):
        return
    needed = {d.task_id for other in context.episode.tasks for d in other.depends_on}
    if task.depends_on or task.task_id in needed:
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.scope == "persistent" and not intent.recoverable_from:
            yield Flaw(
                "intents",
                "The intent is persistent, but no other task is related to this one.",
                "Add a source, make the task depend on the task that establishes it, or set "
                "its scope to this session only.",
                position,
            )
