from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule, written
from studio.spec.task import TaskSpec


@rule("broken-text", "warning")
def broken_text(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """U+FFFD stands where a text was read in the wrong encoding."""
    for field, item, text in written(task):
        if "\N{REPLACEMENT CHARACTER}" in text:
            yield Flaw(
                field,
                "The text has a character that was lost when it was read in the wrong encoding.",
                "Type it again.",
                item,
                words="\N{REPLACEMENT CHARACTER}",
            )
