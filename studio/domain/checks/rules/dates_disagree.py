from collections.abc import Iterator
from dataclasses import replace

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.checks.sources import established_text, prerequisite_ids
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, sentences
from studio.domain.text.coverage import word_overlap
from studio.domain.text.dates import Day, find_days
from studio.domain.text.words import content_words

NEAR = 7
"""Maximum distance in days between two mentions of the same event."""
SAME = 0.85
"""Share of words that two sentences about the same event have in common."""
MIN_WEIGHT = 2.0


@rule("dates-disagree", "warning", across_tasks=True)
def dates_disagree(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A matter that spans two sessions keeps its day and year. A hint if the later task does not depend on the earlier
    one, because the event may recur."""
    if not any(find_days(text) for _, _, text in authored_texts(task)):
        return
    known = prerequisite_ids(task, context)
    for name in sorted(known):
        other = context.task(name)
        text = established_text(other) if other else ""
        days = [day for day in find_days(text) if day.year]
        flaw = next(_different_years(task, name, days), None) or next(_different_days(task, name, text), None)
        if flaw:
            yield flaw
    for other in context.earlier(task):
        if other.task_id not in known and (
            flaw := next(_different_days(task, other.task_id, established_text(other)), None)
        ):
            yield replace(flaw, severity="hint")


def _different_years(task: TaskSpec, name: str, days: list[Day]) -> Iterator[Flaw]:
    for field, item, text in authored_texts(task):
        for day in find_days(text):
            near = [other for other in days if other.month == day.month and abs(other.day - day.day) <= NEAR]
            if day.year and near and all(abs(other.year - day.year) == 1 for other in near):
                yield Flaw(
                    field,
                    f"“{day.span.text}” is in {day.year}; “{name}” puts the same days into {near[0].year}.",
                    "Use one year for both.",
                    item,
                    passage=day.span.text,
                    other=name,
                )


def _different_days(task: TaskSpec, name: str, text: str) -> Iterator[Flaw]:
    theirs = _dated_sentences(text)
    if not theirs:
        return
    for field, item, own_text in authored_texts(task):
        for span, day in _dated_sentences(own_text):
            rest = _without(span.text, day)
            for sentence, other_day in theirs:
                if (day.day, day.month) == (other_day.day, other_day.month):
                    continue
                if _is_same_event(rest, _without(sentence.text, other_day)):
                    yield Flaw(
                        field,
                        f"“{day.span.text}” here is “{other_day.span.text}” in “{name}”.",
                        "Use one day for both.",
                        item,
                        passage=day.span.text,
                        other=name,
                    )
                    return


@cached(1_000_000)
def _dated_sentences(text: str) -> tuple[tuple[Span, Day], ...]:
    """Sentences that name exactly one day."""
    if not find_days(text):
        return ()
    return tuple((span, days[0]) for span in sentences(text[:40_000]) if len(days := find_days(span.text)) == 1)


def _without(text: str, day: Day) -> str:
    return f"{text[: day.span.start]} {text[day.span.end :]}"


def _is_same_event(sentence: str, other: str) -> bool:
    if (
        sum(word.weight for word in content_words(sentence)) < MIN_WEIGHT
        or len(content_words(sentence)) > 3 * len(content_words(other)) + 1
    ):
        return False
    return min(word_overlap(sentence, other), word_overlap(other, sentence)) >= SAME
