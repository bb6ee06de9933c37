import re
from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec
from studio.spec.text.words import content

VAGUE = re.compile(
    r"\b(?:better|best practices?|high[- ]quality|good quality|professional(?:ly)?"
    r"|appropriate(?:ly)?|suitabl[ey]|adequate(?:ly)?"
    r"|proper(?:ly)?|nice(?:ly)?|user-friendly|as (?:needed|necessary|appropriate)|and so on"
    r"|etc\.?|in general|well[- ](?:written|made"
    r"|structured|done)|polished|comprehensive(?:ly)?|thorough(?:ly)?|reasonabl[ey]|helpful|useful"
    r"|deep(?:ly)?|in-depth|detailed"
    r"|nuanced|good|great|excellent|perfect|relevant|meaningful|engaging|compelling|interesting|superficial)\b",
    re.IGNORECASE,
)
REST = 2.5
"""An intent that says at least about this many definite words more is held by those."""


@rule("intent-vague", "hint")
def intent_vague(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Whether an intent was met has to be decidable from what the agent wrote (paper, Table 10)."""
    for position, intent in enumerate(task.intents, 1):
        found = list(VAGUE.finditer(intent.content))
        rest = content(VAGUE.sub(" ", intent.content))
        if found and sum(word.weight for word in rest) < REST:
            yield Flaw(
                "intents",
                "Two people could disagree on whether this was met.",
                "Say what has to be there: a part, a number, a limit, a form.",
                position,
                words=found[0][0],
            )
