from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec


@rule("id-spaces", "warning")
def id_spaces(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Ids name folders and appear in commands, where spaces get lost or in the way."""
    written = task.source.get("task_id")
    for text in dict.fromkeys((task.task_id, written if isinstance(written, str) else task.task_id)):
        if any(character.isspace() for character in text):
            yield Flaw("task_id", f"The id “{text}” has spaces.", "Write it without spaces.", passage=text)
