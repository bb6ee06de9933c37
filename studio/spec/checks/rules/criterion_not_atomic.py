from collections.abc import Iterator

from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec
from studio.spec.text.requirements import requirements


@rule("criterion-not-atomic", "warning")
def criterion_not_atomic(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """One requirement each: half a bundle earns nothing, and nobody sees which half was missing (paper, Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        found = requirements(item.criterion)
        if found.sure < 2 and found.listed < 3:
            continue
        count = max(found.sure, found.listed)
        yield Flaw(
            "checklist",
            f"The criterion asks for several things at once, about {count}.",
            "Split it, so that each item is one requirement.",
            position,
            words=found.second.text if found.second else "",
            severity="warning" if found.sure > 1 else "hint",
        )
