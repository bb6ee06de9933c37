import re
from collections.abc import Iterator
from functools import lru_cache

from studio.domain.caching import cached
from studio.domain.checks.rule import CheckContext, Flaw, in_field, rule
from studio.domain.checks.sources import established_text, established_texts
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.text.coverage import word_overlap
from studio.domain.text.prose import without_data
from studio.domain.text.word_index import PREFIX
from studio.domain.text.words import content_words, similarity

PASSING = 0.05
"""Average share of sentences that contain a word of the title; up to this, it is mentioned in passing."""
THEME = 0.1
MIN_RATIO = 3
"""How many times more often another task must mention it."""
MIN_WORDS = 2
"""Minimum words of the title in the other task, because a single one may match by chance;"""
THROUGHOUT = 0.4
"""unless at least this share of its sentences has it."""
_END = "\0"
"""Between sentences; no stored text has it."""


@rule("title-elsewhere", "warning", across_tasks=True)
@in_field("title", "Change the title to say what the user wants here.")
def title_elsewhere(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A title that describes another task was left over from it. Words that are merely missing from the task are fine,
    because titles paraphrase."""
    title = content_words(task.title)
    if len(title) < 2 or len(content_words(task.initial_request[:5_000])) < 5:
        return
    others = [other for other in (*context.episode.tasks, *context.episode.unplaced) if other.task_id != task.task_id]
    other = _find_better_match(task, others, context)
    if other is None and not _fits_own_task(task):
        keys, texts = {word.key for word in title}, context.once(established_texts)
        other = next((each for each in others if keys <= _keys(texts[each.task_id][:20_000])), None)
    if other:
        yield Flaw(f"The title fits “{other.task_id}” better than this task.", passage=task.title, other=other.task_id)


def _fits_own_task(task: TaskSpec) -> bool:
    pieces = (*(intent.content for intent in task.intents), task.initial_request[:10_000])
    return _fits(task.title, pieces, established_text(task), task.description)


@lru_cache(4_096)
def _fits(title: str, pieces: tuple[str, ...], established: str, description: str) -> bool:
    """Also compares with file names split into words."""
    if any(word_overlap(title, piece) > 0.35 for piece in pieces if piece in established[:20_000]):
        return True
    rest = f"{established.removeprefix(title)[:20_000]}\n{description}"
    return word_overlap(title, rest) > 0.35 or word_overlap(title, re.sub(r"[_./-]", " ", rest)) > 0.35


def _find_better_match(task: TaskSpec, others: list[TaskSpec], context: CheckContext) -> TaskSpec | None:
    texts = context.once(_texts)
    own = _share(task.title, texts[task.task_id])
    if own > PASSING or word_overlap(task.title, task.description) > 0.5:
        return None
    theme_shares = [
        (_share(task.title, texts[other.task_id]), other.task_id, other) for other in others if texts[other.task_id]
    ]
    most, _, other = max(theme_shares, default=(0.0, "", None))
    if other is None or most < max(THEME, MIN_RATIO * own):
        return None
    theme = theme_of(texts[other.task_id])
    shares = [theme.sentences_with(word.key) / theme.number for word in content_words(task.title)]
    return other if sum(map(bool, shares)) >= MIN_WORDS or max(shares) >= THROUGHOUT else None


def _sentences(task: TaskSpec) -> tuple[str, ...]:
    return (
        *(span.text for span in sentences(without_data(task.initial_request[:20_000]))),
        *(intent.content for intent in task.intents),
        *(item.criterion for item in task.checklist),
    )


class Theme:
    """Which words stand in a task's sentences, and in which of them: the words of titles are looked up here."""

    __slots__ = ("_beginning", "_with", "number")

    def __init__(self, text: str) -> None:
        """``text``: as ``_texts`` has it."""
        sentences = text.split(_END) if text else []
        self.number = len(sentences)
        self._with: dict[str, int] = {}
        """Sentences with a key, by bits."""
        self._beginning: dict[str, list[str]] = {}
        for number, sentence in enumerate(sentences):
            bit = 1 << number
            for word in content_words(sentence):
                self._with[word.key] = self._with.get(word.key, 0) | bit
        for key in self._with:
            if len(key) >= PREFIX:
                self._beginning.setdefault(key[:PREFIX], []).append(key)

    def share_of(self, title: str) -> float:
        """Average share of the sentences that have a word of the title; 1 if there is nothing to compare."""
        words = content_words(title)
        total = sum(word.weight for word in words)
        matched = sum(word.weight * self.sentences_with(word.key) for word in words)
        return matched / total / self.number if total and self.number else 1.0

    def sentences_with(self, key: str) -> int:
        """Those with a form of the word."""
        found = self._with.get(key, 0)
        for other in self._beginning.get(key[:PREFIX], ()):
            if similarity(key, other) >= 0.9:
                found |= self._with[other]
        return found.bit_count()


@cached
def theme_of(text: str) -> Theme:
    return Theme(text)


def _texts(context: CheckContext) -> dict[str, str]:
    """Sentences by task, in one text each: titles of the whole episode are compared with it."""
    tasks = (*context.episode.tasks, *context.episode.unplaced)
    return {task.task_id: _END.join(_sentences(task)) for task in tasks}


@cached
def _share(title: str, text: str) -> float:
    return theme_of(text).share_of(title)


@cached
def _keys(text: str) -> frozenset[str]:
    return frozenset(word.key for word in content_words(text))
