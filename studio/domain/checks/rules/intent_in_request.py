from collections.abc import Iterator

from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import UNFILLED, opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.leaks import find_leak, topic_of

CERTAIN = 0.9
"""Minimum probability that all of it is said; an error stops a task from being approved."""


@rule("intent-in-request", "warning", judges_language=True)
def intent_in_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the request says is not hidden: every agent gets credit for it (paper, Table 10)."""
    topic = topic_of((intent.content for intent in task.intents), task.title)
    for position, intent in enumerate(task.intents, 1):
        if UNFILLED.search(intent.content):  # reported by another rule
            continue
        leak = find_leak(intent.content, opening_text(task), topic)
        if leak is None:
            continue
        wholly = leak.degree == "wholly" and leak.chance >= CERTAIN
        yield Flaw(
            "intents",
            f"The request says {'this' if wholly else 'part of this'} already: {quote(leak.source, SHORT)}.",
            "Remove it from the request, or remove the intent."
            if wholly
            else "Remove that part from the request, or keep only the unstated part in the intent.",
            position,
            passage=leak.passage,
            severity="error" if wholly else "warning",
        )
