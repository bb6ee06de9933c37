from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec


@rule("duplicate-criterion", "warning")
def duplicate_criterion(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """The same criterion twice weighs twice."""
    seen: dict[str, int] = {}
    for position, item in enumerate(task.checklist, 1):
        text = " ".join(item.criterion.split()).casefold()
        first = seen.setdefault(text, position)
        if text and first != position:
            yield Flaw(
                "checklist",
                f"This is item {first} again.",
                "Remove one of the two, or give one of them a higher weight.",
                position,
                words=item.criterion,
            )
