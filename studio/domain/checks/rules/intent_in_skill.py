from collections.abc import Iterator

from studio.domain.checks.quotes import SHORT, quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.skills import SKILL_FILE, description
from studio.domain.task import TaskSpec
from studio.domain.text.leaks import find_leak
from studio.domain.text.words import content_words

SURE = 0.75
MIN_WORDS = 3


@rule("intent-in-skill", "warning")
def intent_in_skill(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Agents see a skill's description from the first turn, so what it says is not hidden (paper, Table 10). The rest
    of a skill has to be looked up and is a legitimate source."""
    shown = [(name, text) for name, text in _descriptions(task, context) if text]
    for position, intent in enumerate(task.intents, 1):
        if len(content_words(intent.content)) < MIN_WORDS:
            continue
        for name, text in shown:
            leak = find_leak(intent.content, text)
            if leak and leak.degree == "wholly" and leak.chance >= SURE:
                yield Flaw(
                    "intents",
                    f"The description of the skill “{name}” says this to every agent: {quote(leak.source, SHORT)}.",
                    "Move it from the description into the skill's text, or remove the intent.",
                    position,
                    passage=leak.passage,
                )
                break


def _descriptions(task: TaskSpec, context: CheckContext) -> Iterator[tuple[str, str]]:
    for skill in context.episode.persona.skills:
        if task.skills and skill.name not in task.skills:
            continue
        for file in skill.files:
            if file.path.endswith(SKILL_FILE) and (text := description(context.texts.get(file.sha256, ""))):
                yield skill.name, text
