from collections.abc import Iterator

from studio.domain.checks.repetition import find_repeats
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("duplicate-intent", "warning")
def duplicate_intent(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A repeated intent counts twice. A hint if only the order of the words differs."""
    for position, first, exactly in find_repeats([intent.content for intent in task.intents]):
        yield Flaw(
            "intents",
            f"This is intent {first} again." if exactly else f"This says what intent {first} says, in another order.",
            "Remove one of the two.",
            position,
            passage=task.intents[position - 1].content,
            severity="warning" if exactly else "hint",
        )
