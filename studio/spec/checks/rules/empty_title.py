from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec


@rule("empty-title", "warning")
def empty_title(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A task without a title cannot be told from others in lists and reports."""
    if not task.title.strip():
        yield Flaw("title", "The task has no title.", "Say in a few words what the user wants.")
