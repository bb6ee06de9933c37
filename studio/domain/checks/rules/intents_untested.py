from collections.abc import Iterable, Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.word_index import Vocabulary, vocabulary
from studio.domain.time_budget import check_time

MIN_INTENTS = 3
"""Below, an item may test the only intent in other words."""
MIN_SHARE = 0.2
"""Share of an intent's words in an item, or the reverse, from which the item may test it."""


@rule("intents-untested", "warning")
def intents_untested(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """If no item tests any intent, an agent that ignores all of them completes the task."""
    items, intents = task.scored_items, [intent.content for intent in task.intents if intent.content.strip()]
    if len(intents) < MIN_INTENTS or not items or task.grader_script or any(item.follows_from for item in items):
        return
    tested = [vocabulary(item.criterion) for item in items]
    if not any(_is_tested(vocabulary(intent), tested) for intent in intents):
        yield Flaw(
            "checklist",
            f"No item tests any of the {len(intents)} intents.",
            "Add items for what the intents want, or link the items to them.",
        )


def _is_tested(intent: Vocabulary, items: Iterable[Vocabulary]) -> bool:
    check_time()
    return any(item.reaches(MIN_SHARE, intent) or intent.reaches(MIN_SHARE, item) for item in items)
