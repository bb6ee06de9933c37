from collections.abc import Iterator

from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.leaks import LONGEST, find_leak
from studio.domain.text.words import content_words

SURE = 0.85
ANYWHERE = 0.6
"""Share of an intent's words that a file has to have at all."""


@rule("intent-in-file", "hint")
def intent_in_file(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that says an intent outright is where it is found: good if that is meant, and then it should be marked."""
    for position, intent in enumerate(task.intents, 1):
        places = {place.ref.rpartition("/")[2] for place in intent.recoverable_from if place.kind == "file"}
        for file in task.assets:
            text = context.texts.get(file.sha256, "")
            if (
                not text
                or file.path.rpartition("/")[2] in places
                or word_overlap(intent.content, text[:LONGEST]) < ANYWHERE
            ):
                continue
            leak = find_leak(intent.content, text)
            if leak and leak.degree == "wholly" and leak.chance >= SURE and len(content_words(intent.content)) > 3:
                yield Flaw(
                    "intents",
                    f"“{file.path}” says this openly: {quote(leak.place, SHORT)}.",
                    "Add the file as the intent's source, or remove this from the file.",
                    position,
                    words=leak.words,
                )
                break
