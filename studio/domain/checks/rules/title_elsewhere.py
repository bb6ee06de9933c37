import re
from collections.abc import Iterator
from typing import NamedTuple

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.text.coverage import word_overlap
from studio.domain.text.prose import without_data
from studio.domain.text.words import Word, content_words, similarity

PASSING = 0.05
"""Average share of sentences that contain a word of the title; up to this, it is mentioned in passing."""
THEME = 0.1
MIN_RATIO = 3
"""How many times more often another task must mention it."""
MIN_WORDS = 2
"""Minimum words of the title in the other task, because a single one may match by chance;"""
THROUGHOUT = 0.4
"""unless at least this share of its sentences has it."""


@rule("title-elsewhere", "warning", across_tasks=True)
def title_elsewhere(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A title that describes another task was left over from it. Words that are merely missing from the task are fine,
    because titles paraphrase."""
    title = content_words(task.title)
    if len(title) < 2 or len(content_words(task.initial_request[:5_000])) < 5:
        return
    others = [other for other in (*context.episode.tasks, *context.episode.unplaced) if other.task_id != task.task_id]
    other = _find_better_match(task, others)
    if other is None and not _fits_own_task(task):
        other = next((each for each in others if _fits(title, established_text(each)[:20_000])), None)
    if other:
        yield Flaw(
            "title",
            f"The title fits “{other.task_id}” better than this task.",
            "Change the title to say what the user wants here.",
            passage=task.title,
            other=other.task_id,
        )


def _fits_own_task(task: TaskSpec) -> bool:
    """Also compares with file names split into words."""
    pieces = (*(intent.content for intent in task.intents), task.initial_request[:10_000])
    established = established_text(task)
    if any(word_overlap(task.title, piece) > 0.35 for piece in pieces if piece in established[:20_000]):
        return True
    rest = f"{established.removeprefix(task.title)[:20_000]}\n{task.description}"
    return word_overlap(task.title, rest) > 0.35 or word_overlap(task.title, re.sub(r"[_./-]", " ", rest)) > 0.35


def _find_better_match(task: TaskSpec, others: list[TaskSpec]) -> TaskSpec | None:
    if _is_theme(task.title, _sentences(task)):
        return None
    own = _theme_share(task.title, _sentences(task))
    if own > PASSING or word_overlap(task.title, task.description) > 0.5:
        return None
    theme_shares = [
        (_theme_share(task.title, sentences_of_other), other.task_id, other)
        for other in others
        if (sentences_of_other := _sentences(other))
    ]
    most, _, other = max(theme_shares, default=(0.0, "", None))
    if other is None or most < max(THEME, MIN_RATIO * own):
        return None
    bags = [_keys(text) for text in _sentences(other)]
    shares = [sum(_contains(bag, word.key) for bag in bags) / len(bags) for word in content_words(task.title)]
    return other if sum(map(bool, shares)) >= MIN_WORDS or max(shares) >= THROUGHOUT else None


def _sentences(task: TaskSpec) -> tuple[str, ...]:
    return (
        *(span.text for span in sentences(without_data(task.initial_request[:20_000]))),
        *(intent.content for intent in task.intents),
        *(item.criterion for item in task.checklist),
    )


@cached(1_000_000)
def _is_theme(title: str, texts: tuple[str, ...]) -> bool:
    """Whether the share is certain to exceed PASSING; reads no more sentences than that takes."""
    title_words = content_words(title)
    total = sum(word.weight for word in title_words)
    enough = (PASSING + 0.001) * total * len(texts)
    matched = 0.0
    for text in texts:
        bag = _keys(text)
        matched += sum(word.weight for word in title_words if _contains(bag, word.key))
        if matched > enough:
            return True
    return False


@cached(1_000_000)
def _theme_share(title: str, texts: tuple[str, ...]) -> float:
    bags = [_keys(text) for text in texts]
    title_words = content_words(title)
    total = sum(word.weight for word in title_words)
    matched = sum(word.weight * sum(_contains(bag, word.key) for bag in bags) for word in title_words)
    return matched / total / len(bags) if total and bags else 1.0


class Bag(NamedTuple):
    keys: frozenset[str]
    starts: frozenset[str]


@cached(2_000_000)
def _keys(text: str) -> Bag:
    keys = frozenset(word.key for word in content_words(text))
    return Bag(keys, frozenset(key[:4] for key in keys))


def _contains(bag: Bag, key: str) -> bool:
    return key in bag.keys or (
        key[:4] in bag.starts and any(other[:4] == key[:4] and similarity(key, other) >= 0.9 for other in bag.keys)
    )


def _fits(title: tuple[Word, ...], text: str) -> bool:
    keys = {word.key for word in content_words(text)}
    return all(word.key in keys for word in title)
