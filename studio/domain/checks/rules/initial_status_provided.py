from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("initial-status-provided", "warning")
def initial_status_provided(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An intent that starts as provided never counts as met but stays in the denominator."""
    for position, intent in enumerate(task.intents, 1):
        if intent.initial_status == "provided":
            yield Flaw(
                "intents",
                "The intent starts as provided: no agent can get credit for it.",
                "Set it to “not stated initially”, or move it into the request.",
                position,
            )
