from collections.abc import Iterator

from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.leaks import LONGEST, find_leak
from studio.domain.text.words import content_words

SURE = 0.85
ANYWHERE = 0.6
"""Minimum share of an intent's words anywhere in a file; a quick filter."""


@rule("intent-in-file", "hint")
def intent_in_file(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A file that states an intent openly is its source, and should be marked as such if that is intended."""
    for position, intent in enumerate(task.intents, 1):
        marked_files = {source.ref.rpartition("/")[2] for source in intent.recoverable_from if source.kind == "file"}
        for file in task.assets:
            text = context.texts.get(file.sha256, "")
            if (
                not text
                or file.path.rpartition("/")[2] in marked_files
                or word_overlap(intent.content, text[:LONGEST]) < ANYWHERE
            ):
                continue
            leak = find_leak(intent.content, text)
            if leak and leak.degree == "wholly" and leak.chance >= SURE and len(content_words(intent.content)) > 3:
                yield Flaw(
                    "intents",
                    f"“{file.path}” says this openly: {quote(leak.source, SHORT)}.",
                    "Add the file as the intent's source, or remove this from the file.",
                    position,
                    passage=leak.passage,
                    data=file.path,
                )
                break
