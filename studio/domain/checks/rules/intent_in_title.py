import re
from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import coverage
from studio.domain.text.words import Word, content_words

SHARE = 0.75
"""Share of a part of the title that the intent has."""
LEAST = 1.8
"""About two words of it are not in the request."""
PARTS = re.compile(r"[:;,/→|()]|\s[–—-]\s|\s(?:and|to|with|from|by)\s")


@rule("intent-in-title", "hint")
def intent_in_title(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A title that names what is hidden gives it away wherever titles are shown: to agents, colleagues, in results."""
    asked = {word.key for word in content_words(task.initial_request[:20_000])}
    parts = [part.strip() for part in PARTS.split(task.title) if part.strip()]
    for position, intent in enumerate(task.intents, 1):
        for part in parts:
            own = [word for word in content_words(part) if word.key not in asked]
            said = coverage(part, intent.content[:2_000])
            told = [word for word in own if word not in said.missing]
            if said.near >= SHARE and sum(word.weight for word in told) >= LEAST:
                yield Flaw(
                    "intents",
                    f"The title names it: {quote(part)}.",
                    "Use a title that reveals no more than the request.",
                    position,
                    words=_stretch(intent.content, told),
                )
                break


def _stretch(text: str, told: list[Word]) -> str:
    keys = {word.key for word in told}
    found = [word for word in content_words(text) if word.key in keys]
    return text[found[0].start : found[-1].end] if found else ""
