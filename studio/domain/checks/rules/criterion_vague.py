import re
from collections.abc import Iterator

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.vagueness import vague_phrase
from studio.domain.task import TaskSpec

OPINION = re.compile(
    r"\bwould (?:agree|approve|like|love|be (?:happy|satisfied|pleased|convinced|impressed|acceptable))"
    r"|\b(?:is|are|will be|feels?) (?:happy|satisfied|pleased|impressed|convinced|delighted)\b"
    r"|\bin (?:my|the (?:user|author|expert|reader)['’]s) (?:opinion|view|eyes)\b"
    r"|\b(?:taken|takes|take) (?:\w+ )?(?:seriously|into consideration|to heart)\b"
    r"|\b(?:understands|thinks about|knows|is aware of|cares about|has considered)\b"
    r"|\b(?:looks?|sounds?|reads?) (?:good|nice|well|right|natural|professional)\b",
    re.IGNORECASE,
)
"""Someone's opinion, which nothing in the session shows."""


@rule("criterion-vague", "hint")
def criterion_vague(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two people who read the same reply and files should agree on whether a criterion is met (paper, Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        opinion = _opinion(item.criterion)
        if item.grader == "rubric" and (phrase := opinion or vague_phrase(item.criterion)):
            yield Flaw(
                "checklist",
                "Two people could disagree on whether this is met: nothing says what to look for."
                if not opinion
                else "The criterion asks what someone thinks of it; no reply, file or tool call shows that.",
                "Name what must be present: a section, a number, a limit, a format.",
                position,
                passage=phrase,
            )


@cached(300_000)
def _opinion(criterion: str) -> str:
    match = OPINION.search(criterion[:2_000])
    return match[0] if match else ""
