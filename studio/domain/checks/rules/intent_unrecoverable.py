from collections.abc import Iterator

from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.task import TaskSpec


@rule("intent-unrecoverable", "warning")
def intent_unrecoverable(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """What nothing lets an agent find, infer or ask for measures luck (paper, Table 10).

    Looks only at tasks whose author marks where intents are recovered from.
    """
    if not any(intent.recoverable_from for intent in task.intents):
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.content.strip() and not intent.recoverable_from:
            yield Flaw(
                "intents",
                "Nothing is named from which an agent could recover this intent.",
                "Say where it can be found out: profile, earlier session, file, tool, or by asking.",
                position,
            )
