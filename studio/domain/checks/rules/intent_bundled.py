import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.requirements import requirements


@rule("intent-bundled", "hint")
def intent_bundled(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two needs in one intent share one status, so meeting one of them earns credit for both or for none."""
    for position, intent in enumerate(task.intents, 1):
        estimate = requirements(intent.content)
        second = estimate.second.text if estimate.second else ""
        if estimate.sure > 1 and re.match(r"(?:and|but|plus)\b|[A-Z]", second):
            yield Flaw(
                "intents",
                f"The intent holds about {estimate.sure} needs.",
                "Split it so that each part can be met separately.",
                position,
                passage=second,
            )
