from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec


@rule("duplicate-intent", "warning")
def duplicate_intent(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """The same intent twice counts twice."""
    seen: dict[str, int] = {}
    for position, intent in enumerate(task.intents, 1):
        text = " ".join(intent.content.split()).casefold()
        first = seen.setdefault(text, position)
        if text and first != position:
            yield Flaw(
                "intents", f"This is intent {first} again.", "Remove one of the two.", position, words=intent.content
            )
