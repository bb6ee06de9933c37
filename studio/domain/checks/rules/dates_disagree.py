from collections.abc import Iterator
from dataclasses import replace

from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, rule
from studio.domain.checks.sources import established_text, prerequisite_ids
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import sentences
from studio.domain.text.coverage import word_overlap
from studio.domain.text.dates import Day, find_days
from studio.domain.text.words import content_words

NEAR = 7
"""Days of the month that may lie between two mentions of one affair."""
SAME = 0.85
"""Share of their words that two sentences of different days have in common, if they speak of one event."""
FEWEST = 2.0


@rule("dates-disagree", "warning")
def dates_disagree(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """An affair that goes over two sessions does not change its day or its year in between. A hint where the later one
    does not build on the other: it may come round again."""
    if not any(find_days(text) for _, _, text in authored_texts(task)):
        return
    known = prerequisite_ids(task, context)
    for name in sorted(known):
        other = context.episode.task(name)
        text = established_text(other) if other else ""
        there = [each for each in find_days(text) if each.year]
        flaw = next(_differing(task, name, there), None) or next(_moved(task, name, text), None)
        if flaw:
            yield flaw
    for other in context.earlier(task):
        if other.task_id not in known and (flaw := next(_moved(task, other.task_id, established_text(other)), None)):
            yield replace(flaw, severity="hint")


def _differing(task: TaskSpec, name: str, there: list[Day]) -> Iterator[Flaw]:
    for field, item, text in authored_texts(task):
        for here in find_days(text):
            same = [each for each in there if each.month == here.month and abs(each.day - here.day) <= NEAR]
            if here.year and same and all(abs(each.year - here.year) == 1 for each in same):
                yield Flaw(
                    field,
                    f"“{here.span.text}” is in {here.year}; “{name}” puts the same days into {same[0].year}.",
                    "Use one year for both.",
                    item,
                    words=here.span.text,
                    other=name,
                )


def _moved(task: TaskSpec, name: str, text: str) -> Iterator[Flaw]:
    """The same said of another day."""
    theirs = [(span, found[0]) for span in sentences(text[:40_000]) if len(found := find_days(span.text)) == 1]
    if not theirs:
        return
    for field, item, words in authored_texts(task):
        for span in sentences(words[:40_000]):
            found = find_days(span.text)
            if len(found) != 1:
                continue
            here = found[0]
            rest = _without(span.text, here)
            for sentence, there in theirs:
                if (here.day, here.month) == (there.day, there.month):
                    continue
                if _same(rest, _without(sentence.text, there)):
                    yield Flaw(
                        field,
                        f"“{here.span.text}” here is “{there.span.text}” in “{name}”.",
                        "Use one day for both.",
                        item,
                        words=here.span.text,
                        other=name,
                    )
                    return


def _without(text: str, day: Day) -> str:
    return f"{text[: day.span.start]} {text[day.span.end :]}"


def _same(one: str, other: str) -> bool:
    if (
        sum(word.weight for word in content_words(one)) < FEWEST
        or len(content_words(one)) > 3 * len(content_words(other)) + 1
    ):
        return False
    return min(word_overlap(one, other), word_overlap(other, one)) >= SAME
