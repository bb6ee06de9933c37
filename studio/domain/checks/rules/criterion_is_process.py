import re
from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec

PROCESS = re.compile(
    r"\bpro-?active(?:ly)?\b|\bwithout (?:being|having been) (?:asked|told|prompted|reminded)\b(?! (?:for|by|to pay)\b)"
    r"|\bunprompted\b|\btakes? the initiative\b"
    r"|\b(?:agent|assistant|model|it) (?:first )?(?:asks?|clarif(?:y|ies)|inquires?"
    r"|requests? clarification|checks? with)\b"
    r"|\basks? (?:a|the user|one|at least|for) [^.;]{0,40}?(?:clarif\w+|follow-?up) questions?\b"
    r"|\bclarifying questions?\b"
    r"|\bin (?:its|the) first (?:turn|reply|response|message)\b|\bon (?:its"
    r"|their) own initiative\b|\binfers? (?:that|the user)\b"
    r"|\b(?:agent|assistant|model|it) (?:\w+ )?(?:infers|anticipates|recalls|remembers|notices|reali[sz]es)\b"
    r"|\brecogni[sz]es? that the user\b|\bimplicitly recall\w*",
    re.IGNORECASE,
)


@rule("criterion-is-process", "warning")
def criterion_is_process(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The checklist scores the outcome; how proactively it was reached is what the intents score (paper, Table 11)."""
    for position, item in enumerate(task.checklist, 1):
        if match := PROCESS.search(item.criterion):
            yield Flaw(
                "checklist",
                "The criterion scores how the agent went about it, not what came out.",
                "Say what must be there at the end; make the rest a hidden intent.",
                position,
                passage=match[0],
            )
