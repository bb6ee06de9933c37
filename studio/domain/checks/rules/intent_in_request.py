from collections.abc import Iterator

from studio.domain.checks.opinions import BY_MODEL, Opinion
from studio.domain.checks.questions import leak_question
from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import UNFILLED, opening_text
from studio.domain.task import TaskSpec
from studio.domain.text.leaks import Leak, find_leak, topic_of

CERTAIN = 0.9
"""Minimum probability that all of it is said; an error stops a task from being approved."""


def _degree(leak: Leak | None) -> str:
    return "none" if leak is None else "wholly" if leak.degree == "wholly" and leak.chance >= CERTAIN else "partly"


def _second_opinion(position: int, intent: str, opinion: Opinion) -> Flaw:
    """A warning at most: it stops nobody."""
    said = f": {quote(opinion.quote, SHORT)}" if opinion.quote else ""
    return Flaw(
        "intents",
        f"The request says {'this' if opinion.degree == 'wholly' else 'part of this'} already{said}{BY_MODEL}.",
        "Remove it from the request, or remove the intent.",
        position,
        passage=intent.strip(),
        severity="warning",
    )


@rule("intent-in-request", "warning", judges_language=True)
def intent_in_request(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the request says is not hidden: every agent gets credit for it (paper, Table 10)."""
    topic = topic_of((intent.content for intent in task.intents), task.title)
    for position, intent in enumerate(task.intents, 1):
        if UNFILLED.search(intent.content):  # reported by another rule
            continue
        opinion = context.opinions.get(leak_question(intent.content, task).key) if context.opinions else None
        leak = find_leak(intent.content, opening_text(task), topic)
        if opinion and opinion.degree != _degree(leak):
            if opinion.degree != "none":
                yield _second_opinion(position, intent.content, opinion)
            continue
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
