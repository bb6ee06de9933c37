import math
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.leaks import find_leak, topic_of

MIN_INTENTS = 2
LIKELY = 0.3
"""Minimum probability that all intents are given away."""


@rule("request-tells-all", "warning")
def request_tells_all(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A request that leaves nothing unsaid measures obedience, not initiative (paper, Table 9)."""
    topic = topic_of((intent.content for intent in task.intents), task.title)
    leaks = [find_leak(intent.content, task.initial_request, topic) for intent in task.intents]
    if len(leaks) >= MIN_INTENTS and math.prod(leak.chance if leak else 0.0 for leak in leaks) >= LIKELY:
        wholly = sum(leak is not None and leak.degree == "wholly" for leak in leaks)
        yield Flaw(
            "initial_request",
            "The request gives away part of every hidden intent.",
            "Remove what an assistant should find, infer or ask for.",
            severity="warning" if 2 * wholly >= len(leaks) else "hint",
        )
