from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import word_overlap
from studio.domain.text.leaks import find_leak
from studio.domain.text.words import content_words

SURE = 0.75
MIN_WORDS = 3
ANYWHERE = 0.6
"""Minimum share of an intent's words in all descriptions; a quick filter."""


@rule("intent-in-tool", "warning")
def intent_in_tool(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Agents see a tool's description from the first turn, so what it says is not hidden (paper, Table 10).

    General tools are the same in every benchmark and tell nothing of a task.
    """
    bound = task.tools or context.episode.persona.tools
    shown = {name: text for name, text in context.tools.items() if name in bound and "__" in name}
    everything = "\n".join(shown.values())
    for position, intent in enumerate(task.intents, 1):
        if len(content_words(intent.content)) < MIN_WORDS or word_overlap(intent.content, everything) < ANYWHERE:
            continue
        for name, text in shown.items():
            leak = find_leak(intent.content, text)
            if leak and leak.degree == "wholly" and leak.chance >= SURE:
                yield Flaw(
                    "intents",
                    f"The description of the tool “{name}” says this to every agent: {quote(leak.source)}.",
                    "Remove the intent, or remove the tool from this task.",
                    position,
                    passage=leak.passage,
                )
                break
