from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("empty-intent", "error")
def empty_intent(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An empty intent cannot be judged, and the format rejects it."""
    for position, intent in enumerate(task.intents, 1):
        if not intent.content.strip():
            yield Flaw("intents", "The intent is empty.", "Write what the user needs, or remove it.", position)
