from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("no-intents", "error")
def no_intents(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Without a hidden intent there is nothing to be proactive about, and the format rejects the task."""
    if not task.intents:
        yield Flaw("intents", "The task has no hidden intent.", "Add one: something the user needs but does not say.")
