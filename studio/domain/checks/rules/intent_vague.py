from collections.abc import Iterator

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.vagueness import vague_phrase
from studio.domain.task import TaskSpec


@rule("intent-vague", "hint")
def intent_vague(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Whether an intent was met must be decidable from what the agent wrote (paper, Table 10)."""
    for position, intent in enumerate(task.intents, 1):
        if phrase := vague_phrase(intent.content):
            yield Flaw(
                "intents",
                "Two people could disagree on whether this was met.",
                "Name what must be present: a section, a number, a limit, a format.",
                position,
                passage=phrase,
            )
