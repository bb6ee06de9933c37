import re
from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule, written
from studio.spec.task import TaskSpec

PLACEHOLDER = re.compile(r"\b(?:TODO|TBD|FIXME|XXX)\b|(?i:\blorem ipsum\b)|<(?:insert|placeholder)[^>]*>")


@rule("placeholder", "warning")
def placeholder(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Words that were to be replaced before anyone reads the task."""
    for field, item, text in written(task):
        if found := PLACEHOLDER.search(text):
            yield Flaw(field, f"“{found[0]}” was to be replaced.", "Write what is meant.", item, words=found[0])
