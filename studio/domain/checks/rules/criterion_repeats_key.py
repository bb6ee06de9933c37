from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.evidence_map import script_keys
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import coverage
from studio.domain.text.words import content_words

SAME = 0.85
MIN_WORDS = 3


@rule("criterion-repeats-key", "warning")
def criterion_repeats_key(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """What the grader script already decides would count twice."""
    keys = [(f"the script's check “{key.name}”", key.about) for key in script_keys(task) if key.about]
    for position, item in enumerate(task.checklist if keys else (), 1):
        if len(content_words(item.criterion)) < MIN_WORDS:
            continue
        for name, about in keys:
            if min(coverage(item.criterion, about).near, coverage(about, item.criterion).near) >= SAME:
                yield Flaw(
                    "checklist",
                    f"{name[:1].upper()}{name[1:]} decides this already: {quote(about)}.",
                    "Remove the item, or change what it asks for.",
                    position,
                    passage=item.criterion.strip(),
                )
                break
