from collections.abc import Iterator

from studio.domain.checks.opinions import BY_MODEL
from studio.domain.checks.questions import atomic_question
from studio.domain.checks.quotes import join_with_and, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.requirements import requirements

MAX_QUOTED, QUOTE_LENGTH = 3, 36
"""Number of requirements quoted in the message, and characters of each."""


@rule("criterion-not-atomic", "warning")
def criterion_not_atomic(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """One requirement per item: half of a bundle earns nothing, and results do not show which half was missing (paper,
    Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        estimate = requirements(item.criterion)
        opinion = context.opinions.get(atomic_question(item.criterion).key) if context.opinions else None
        if opinion and (opinion.count > 1) != (estimate.sure > 1 or estimate.listed > 2):
            if opinion.count > 1:
                message = f"Asks for {opinion.count} things{BY_MODEL}."
                yield Flaw("checklist", message, "Split it so that each item is one requirement.", position)
            continue
        if estimate.sure < 2 and estimate.listed < 3:
            continue
        yield Flaw(
            "checklist",
            _message(estimate.parts),
            "Split it so that each item is one requirement.",
            position,
            passage=estimate.second.text if estimate.second else "",
            severity="warning" if estimate.sure > 1 or estimate.enumerated else "hint",
        )


def _message(parts: tuple[str, ...]) -> str:
    if len(parts) < 2:
        return "The criterion asks for several things at once."
    named = [quote(part, QUOTE_LENGTH) for part in parts[:MAX_QUOTED]]
    listed = join_with_and(named) if len(parts) <= MAX_QUOTED else ", ".join((*named, "…"))
    return f"Asks for {len(parts)} things: {listed}."
