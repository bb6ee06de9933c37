from collections.abc import Iterator

from studio.domain.checks.repetition import find_repeats
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("duplicate-intent", "warning")
def duplicate_intent(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The same intent twice counts twice. A hint where only the words are the same."""
    for position, first, exactly in find_repeats([intent.content for intent in task.intents]):
        yield Flaw(
            "intents",
            f"This is intent {first} again." if exactly else f"This says what intent {first} says, in another order.",
            "Remove one of the two.",
            position,
            words=task.intents[position - 1].content,
            severity="warning" if exactly else "hint",
        )
