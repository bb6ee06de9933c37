from collections.abc import Iterator

from studio.domain.checks.quotes import join_with_and, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.requirements import requirements

SHOWN, LENGTH = 3, 36
"""Things that the message names, and characters of each."""


@rule("criterion-not-atomic", "warning")
def criterion_not_atomic(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """One requirement each: half a bundle earns nothing, and nobody sees which half was missing (paper, Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        found = requirements(item.criterion)
        if found.sure < 2 and found.listed < 3:
            continue
        yield Flaw(
            "checklist",
            _message(found.parts),
            "Split it so that each item is one requirement.",
            position,
            words=found.second.text if found.second else "",
            severity="warning" if found.sure > 1 or found.enumerated else "hint",
        )


def _message(parts: tuple[str, ...]) -> str:
    if len(parts) < 2:
        return "The criterion asks for several things at once."
    named = [quote(part, LENGTH) for part in parts[:SHOWN]]
    return f"Asks for {len(parts)} things: {join_with_and(named) if len(parts) <= SHOWN else ', '.join((*named, '…'))}."
