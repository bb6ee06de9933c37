from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import Flaw, Scene, rule
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import anywhere
from studio.domain.text.leaks import find_leak
from studio.domain.text.words import content

SURE = 0.75
FEWEST = 3
ANYWHERE = 0.6
"""Share of an intent's words that the descriptions have to have at all."""


@rule("intent-in-tool", "warning")
def intent_in_tool(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """A tool's description is before the agent from the first turn; what it says is not hidden (paper, Table 10)."""
    bound = task.tools or scene.episode.persona.tools
    shown = {name: text for name, text in scene.tools.items() if name in bound or "__" not in name}
    everything = "\n".join(shown.values())
    for position, intent in enumerate(task.intents, 1):
        if len(content(intent.content)) < FEWEST or anywhere(intent.content, everything) < ANYWHERE:
            continue
        for name, text in shown.items():
            leak = find_leak(intent.content, text)
            if leak and leak.degree == "wholly" and leak.chance >= SURE:
                yield Flaw(
                    "intents",
                    f"The description of the tool “{name}” says this to every agent: {quote(leak.place)}.",
                    "Remove the intent, or remove the tool from this task.",
                    position,
                    words=leak.words,
                )
                break
