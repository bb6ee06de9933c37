import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

QUESTION = re.compile(
    r"\s*(?:does|do|did|is|are|was|were|has|have|had|can|could|will|would|should)\s+(?!not\b).*\?", re.I | re.S
)

UNMARKED = re.compile(
    r"\s*(?:whether\b|(?:is|are|does|do|did|has|have|had|can|was|were|will)\s"
    r"(?:the|an?|all|each|every|any|there|it|this|that|its|their)\s)",
    re.I,
)
"""The beginning of a question without a question mark."""


@rule("criterion-interrogative", "warning")
def criterion_interrogative(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Judges answer YES if a criterion is met; a question leaves open which answer is the good one."""
    for position, item in enumerate(task.checklist, 1):
        text = item.criterion.strip()
        if (
            QUESTION.fullmatch(text)
            or UNMARKED.match(text)
            or (text.endswith(("?", "？")) and "“" not in text[-40:] and '"' not in text[-40:])
        ):
            yield Flaw(
                "checklist",
                "The criterion is a question.",
                "Rewrite it as a statement that is true when the criterion is met.",
                position,
                passage=text,
            )
