import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

from studio.domain.caching import cached
from studio.domain.checks.disagreement import find_disagreement
from studio.domain.checks.facts import facts
from studio.domain.checks.fixes import change_text
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, authored_texts, in_field, rule
from studio.domain.checks.sources import established_text, opening_text, prerequisite_ids, visible_text
from studio.domain.evidence_map import script_keys
from studio.domain.findings import Severity
from studio.domain.task import TaskSpec
from studio.domain.text.clauses import Span, sentences
from studio.domain.text.coverage import word_overlap
from studio.domain.text.dates import WEEKDAYS, Day, find_days
from studio.domain.text.prose import without_data
from studio.domain.text.words import content_words

PROSE = (".md", ".txt", ".eml", ".html")
"""Only files of sentences: two rows of a table differ without contradicting each other."""
LONGEST = 20_000


@rule("contradiction", "warning")
@in_field("", "Make the two consistent.")
def contradiction(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """Two values for one thing in request, intents, checklist, files or script descriptions: an agent that follows one
    fails by the other."""
    request = without_data(opening_text(task)[:LONGEST])
    intents = [intent.content[:2_000] for intent in task.intents]
    files = [
        (f"“{file.path}”", without_data(text[:LONGEST]))
        for file in task.assets
        if file.path.casefold().endswith(PROSE) and (text := context.texts.get(file.sha256))
    ]
    before = [("The request", request), *files]
    for position, text in enumerate(intents, 1):
        yield from _flaws("intents", position, text, before)
    agreed = {(fact.kind, fact.value) for text in intents for fact in facts(text)}
    before += [(f"Intent {position}", text) for position, text in enumerate(intents, 1)]
    for position, item in enumerate(task.checklist, 1):
        text = item.criterion[:2_000]
        if not _agrees(text, agreed):
            yield from _flaws("checklist", position, text, before)
    for key in script_keys(task):
        if not _agrees(key.about[:2_000], agreed):
            for flaw in _flaws("grader_script", None, key.about[:2_000], before):
                message = f"What the script checks as “{key.name}”: {flaw.message}"
                yield Flaw(message, field=flaw.field, about=f"{key.name}: {flaw.about}")


def _agrees(text: str, agreed: Collection[tuple[str, str]]) -> bool:
    """Whether all facts of the text are in an intent, where a contradiction is reported already."""
    text_facts = facts(text)
    return bool(text_facts) and all((fact.kind, fact.value) in agreed for fact in text_facts)


def _flaws(field: str, position: int | None, text: str, others: list[tuple[str, str]]) -> Iterator[Flaw]:
    for name, other in others:
        if conflict := find_disagreement(text, other, of_a_file=name.startswith("“")):
            message = f"{name} says something else: {quote(conflict.theirs)}."
            yield Flaw(message, field=field, item=position, passage=conflict.mine, about=conflict.theirs)
            return


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
                here = day.span.text
                message = f"“{here}” is in {day.year}; “{name}” puts the same days into {near[0].year}."
                yield Flaw(message, "Use one year for both.", field, item, here, name)


def _different_days(task: TaskSpec, name: str, text: str) -> Iterator[Flaw]:
    theirs = _dated_sentences(text)
    for field, item, own_text in authored_texts(task) if theirs else ():
        for span, day in _dated_sentences(own_text):
            rest, here = _without(span.text, day), day.span.text
            for sentence, other_day in theirs:
                same_day = (day.day, day.month) == (other_day.day, other_day.month)
                if not same_day and _is_same_event(rest, _without(sentence.text, other_day)):
                    message = f"“{here}” here is “{other_day.span.text}” in “{name}”."
                    yield Flaw(message, "Use one day for both.", field, item, here, name)
                    return


@cached
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


YEAR = re.compile(r"(?<!\d)20\d\d(?!\d)")


@rule("date-weekday", "warning")
@in_field("", "Correct the day or the date.")
def date_weekday(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A date with the wrong weekday can be read, and judged, in two ways."""
    years = {int(year) for year in YEAR.findall(established_text(task))}
    only = years.pop() if len(years) == 1 else 0
    for field, item, text in authored_texts(task):
        for day in find_days(text):
            year, here = day.year or only, day.span.text
            real = day.falls_on(year) if year and day.weekday >= 0 else None
            if real is not None and real != day.weekday:
                message = f"“{here}” is a {WEEKDAYS[real].capitalize()} in {year}."
                severity: Severity = "warning" if day.year else "hint"
                yield Flaw(message, field=field, item=item, passage=here, severity=severity)


CAPITAL = re.compile(r"(?<![\w’'-])[A-Z][\w’'-]*+")
SMALL = re.compile(r"[a-z]")
MIN_LETTERS = 5
"""Minimum letters of a name; shorter ones are similar by chance."""


_SPELL_ALIKE = change_text("Spell it {data}", lambda text, finding: text.replace(finding.passage, finding.data))


@rule("name-spelt-twice", "warning", across_tasks=True, one_click=_SPELL_ALIKE)
@in_field("", "Use the same spelling in both places.")
def name_spelt_twice(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A name with two spellings: an agent that follows one fails by the other."""
    demands = [("intents", n, intent.content) for n, intent in enumerate(task.intents, 1)]
    demands += [("checklist", n, item.criterion) for n, item in enumerate(task.checklist, 1)]
    if not any(_names(text) for _, _, text in demands):
        return
    texts = (visible_text(task, context), *map(established_text, context.earlier(task)))
    known = frozenset[str]().union(*map(_names, texts))
    by_part = _by_part(known)
    seen: set[str] = set()
    for field, position, text in demands:
        for name in sorted(_names(text) - known - seen):
            candidates = {other for part in _parts(name) for other in by_part.get(part, ())}
            if other := next((each for each in sorted(candidates) if _is_misspelt(name, each)), None):
                seen.add(name)
                message = f"The name “{name}” is spelt “{other}” elsewhere."
                yield Flaw(message, field=field, item=position, passage=name, data=other)


def _by_part(names: Iterable[str]) -> dict[tuple[int, str], list[str]]:
    """Names by first and by last word: spelt twice, they share one of them."""
    by_part: dict[tuple[int, str], list[str]] = {}
    for name in names:
        for part in _parts(name):
            by_part.setdefault(part, []).append(name)
    return by_part


def _parts(name: str) -> list[tuple[int, str]]:
    return list(enumerate(name.casefold().split()))


@cached
def _names(text: str) -> frozenset[str]:
    """Pairs of neighbouring capitalized words; a single one may only begin a sentence."""
    capitals = [match for match in CAPITAL.finditer(text, 0, 60_000) if SMALL.search(match[0])]
    return frozenset(
        f"{first[0]} {second[0]}" for first, second in pairwise(capitals) if text[first.end() : second.start()] == " "
    )


def _is_misspelt(name: str, other: str) -> bool:
    differing = [(a, b) for a, b in zip(name.split(), other.split(), strict=True) if a.casefold() != b.casefold()]
    if len(differing) != 1:
        return False
    a, b = differing[0]
    if min(len(a), len(b)) < MIN_LETTERS or _bare(a) == _bare(b):
        return False
    return is_one_edit_apart(a.casefold(), b.casefold())


def _bare(word: str) -> str:
    return word.casefold().replace("’", "'").removesuffix("'s").rstrip("s'")


def is_one_edit_apart(word: str, other: str) -> bool:
    """One letter added, removed or replaced, or two neighbours swapped; the first letter is the same."""
    start = next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    if start == 0:
        return False
    rest, other_rest = word[start:], other[start:]
    return (
        rest[1:] == other_rest
        or rest == other_rest[1:]
        or rest[1:] == other_rest[1:]
        or (rest[:2] == other_rest[1::-1] and rest[2:] == other_rest[2:])
    )
