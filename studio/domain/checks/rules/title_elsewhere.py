import re
from collections.abc import Iterator
from functools import lru_cache

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.text.coverage import word_overlap
from studio.domain.text.prose import without_data
from studio.domain.text.words import Word, content_words, similarity

PASSING = 0.05
"""Share of a task's sentences that have a word of its title, on average: up to here they have it in passing."""
THEME = 0.1
TIMES = 3
"""How often more another task has to speak of it before the title is that one's."""
FEWEST = 2
"""Words of the title that the other task has to have: a single one is met by chance,"""
THROUGHOUT = 0.4
"""unless this share of its sentences has it."""


@rule("title-elsewhere", "warning")
def title_elsewhere(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A title that speaks of another task's affair was left over from there. A title in words that its task does not
    have is none: people sum up in other words."""
    title = content_words(task.title)
    if len(title) < 2 or len(content_words(task.initial_request[:5_000])) < 5:
        return
    others = [other for other in (*context.episode.tasks, *context.episode.unplaced) if other.task_id != task.task_id]
    other = _speaks_more(task, others)
    if other is None and not _said(task):
        other = next((each for each in others if _fits(title, established_text(each)[:20_000])), None)
    if other:
        yield Flaw(
            "title",
            f"The title fits “{other.task_id}” better than this task.",
            "Change the title to say what the user wants here.",
            words=task.title,
            other=other.task_id,
        )


def _said(task: TaskSpec) -> bool:
    """Whether the task has words of its title, file names taken apart."""
    rest = f"{established_text(task).removeprefix(task.title)[:20_000]}\n{task.description}"
    return word_overlap(task.title, rest) > 0.35 or word_overlap(task.title, re.sub(r"[_./-]", " ", rest)) > 0.35


def _speaks_more(task: TaskSpec, others: list[TaskSpec]) -> TaskSpec | None:
    own = _theme(task.title, _sentences(task))
    if own > PASSING or word_overlap(task.title, task.description) > 0.5:
        return None
    themes = [(_theme(task.title, said), other.task_id, other) for other in others if (said := _sentences(other))]
    most, _, other = max(themes, default=(0.0, "", None))
    if other is None or most < max(THEME, TIMES * own):
        return None
    bags = [_keys(text) for text in _sentences(other)]
    shares = [sum(_has(bag, word.key) for bag in bags) / len(bags) for word in content_words(task.title)]
    return other if sum(map(bool, shares)) >= FEWEST or max(shares) >= THROUGHOUT else None


def _sentences(task: TaskSpec) -> tuple[str, ...]:
    return (
        *(span.text for span in sentences(without_data(task.initial_request[:20_000]))),
        *(intent.content for intent in task.intents),
        *(item.criterion for item in task.checklist),
    )


@lru_cache(maxsize=4_000)
def _theme(title: str, said: tuple[str, ...]) -> float:
    """The share of sentences that have a word of the title, averaged over its words."""
    bags = [_keys(text) for text in said]
    words = content_words(title)
    total = sum(word.weight for word in words)
    found = sum(word.weight * sum(_has(bag, word.key) for bag in bags) for word in words)
    return found / total / len(bags) if total and bags else 1.0


@lru_cache(maxsize=8_000)
def _keys(text: str) -> frozenset[str]:
    return frozenset(word.key for word in content_words(text))


def _has(bag: frozenset[str], key: str) -> bool:
    return key in bag or any(other[:4] == key[:4] and similarity(key, other) >= 0.9 for other in bag)


def _fits(title: tuple[Word, ...], text: str) -> bool:
    keys = {word.key for word in content_words(text)}
    return all(word.key in keys for word in title)
