import re
from collections.abc import Iterator

from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.task import TaskSpec
from studio.domain.text.coverage import coverage
from studio.domain.text.word_index import SAID, vocabulary
from studio.domain.text.words import Word, content_words

SHARE = 0.75
"""Share of a part of the title that the intent contains."""
MIN_WEIGHT = 1.8
"""Minimum weight of words that are not in the request: about two words."""
PARTS = re.compile(r"[:;,/→|()]|\s[–—-]\s|\s(?:and|to|with|from|by)\s")


@rule("intent-in-title", "hint")
def intent_in_title(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A title that names what is hidden reveals it wherever titles are shown: to agents, colleagues, in results."""
    asked = {word.key for word in content_words(task.initial_request[:20_000])}
    parts = [part.strip() for part in PARTS.split(task.title) if part.strip()]
    for position, intent in enumerate(task.intents, 1):
        for part in parts:
            unasked = [word for word in content_words(part) if word.key not in asked]
            if sum(word.weight for word in unasked) < MIN_WEIGHT:
                continue
            has = vocabulary(intent.content[:2_000]).has
            revealed = [word for word in unasked if has(word.key) >= SAID]
            if (
                sum(word.weight for word in revealed) >= MIN_WEIGHT
                and coverage(part, intent.content[:2_000]).near >= SHARE
            ):
                yield Flaw(
                    "intents",
                    f"The title names it: {quote(part)}.",
                    "Use a title that reveals no more than the request.",
                    position,
                    passage=_passage(intent.content, revealed),
                )
                break


def _passage(text: str, revealed: list[Word]) -> str:
    keys = {word.key for word in revealed}
    matches = [word for word in content_words(text) if word.key in keys]
    return text[matches[0].start : matches[-1].end] if matches else ""
