from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("intent-unscored", "hint")
def intent_unscored(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A need that no criterion follows from does not affect the scored outcome (paper, Table 10). Only for tasks whose
    items are linked to intents."""
    followed = {uid for item in task.scored_items for uid in item.follows_from}
    if not followed or task.grader_script:
        return
    for position, intent in enumerate(task.intents, 1):
        if intent.uid not in followed:
            yield Flaw(
                "intents",
                "No checklist item tests this intent.",
                "Add one, link an existing item to it, or remove the intent.",
                position,
            )
