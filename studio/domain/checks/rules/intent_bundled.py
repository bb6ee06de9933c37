import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.requirements import requirements


@rule("intent-bundled", "hint")
def intent_bundled(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two needs in one intent get one status: an agent that meets the one is credited with both, or with none."""
    for position, intent in enumerate(task.intents, 1):
        found = requirements(intent.content)
        second = found.second.text if found.second else ""
        if found.sure > 1 and re.match(r"(?:and|but|plus)\b|[A-Z]", second):
            yield Flaw(
                "intents",
                f"The intent holds about {found.sure} needs.",
                "Split it so that each part can be met separately.",
                position,
                words=second,
            )
