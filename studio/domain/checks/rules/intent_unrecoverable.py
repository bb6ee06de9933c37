from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("intent-unrecoverable", "warning")
def intent_unrecoverable(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that nothing lets an agent find, infer or ask for measures luck (paper, Table 10). Silent about tasks
    without any marked source."""
    if not any(intent.recoverable_from for intent in task.intents):
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.content.strip() and not intent.recoverable_from:
            yield Flaw(
                "intents",
                "This intent has no source an agent could recover it from.",
                "Add a source: profile, earlier task, file, tool, or asking.",
                position,
            )
