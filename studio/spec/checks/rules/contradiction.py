import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from studio.spec.checks.quoting import quote
from studio.spec.checks.rule import Flaw, Scene, rule
from studio.spec.task import TaskSpec
from studio.spec.text.clauses import Span, clauses, sentences
from studio.spec.text.prose import prose
from studio.spec.text.words import Word, alike, content, words

SHARED = 0.7
"""Share of a clause's words, numbers aside, that the other sentence has: then both speak of the same."""
OF_A_FILE = 0.9
"""Likewise for a sentence of a file, of which there are many."""
BACK = 0.6
"""Share of the file's sentence that the clause has to have in turn."""
FEWEST = 2.1
"""Words that have to be shared at least, about."""
LIMIT = re.compile(
    r"\b(?P<kind>exactly|at most|no more than|not more than|maximum(?: of)?|max\.?|up to|under"
    r"|fewer than|less than|at least"
    r"|no fewer than|minimum(?: of)?|more than|over)\s+(?P<count>\d+"
    r"|[a-z]+)[\s-]+(?:[a-z]+[\s-]+)?(?P<noun>words?|characters?"
    r"|paragraphs?|sentences?|bullets?|bullet points?|questions?|slides?|pages?|posts?|items?"
    r"|headlines?|lines?|rows?|steps?"
    r"|minutes?|seconds?|guidelines?|options?)\b",
    re.IGNORECASE,
)
UPPER = ("at most", "no more than", "not more than", "maximum", "max", "up to", "under", "fewer than", "less than")
LABEL = re.compile(
    r"(?:^|\b(?:no\.|number|item|day|week|month|year|step|part|section|chapter|phase|round|level|version|figure|table|article"
    r"|paragraph|clause|case|room|unit|task|option|need|check|question|slide|page|module|group|team|line)s?)\s*#?$",
    re.IGNORECASE,
)
"""Before a number that only tells one thing from the next."""
PROSE = (".md", ".txt", ".eml", ".html")
"""Files of sentences: in a table, two rows differ without contradicting each other."""
LONGEST = 20_000
TIME = re.compile(r"\d{1,2}:\d\d")


class Limit(NamedTuple):
    noun: str
    low: float
    high: float
    span: Span


@rule("contradiction", "warning")
def contradiction(task: TaskSpec, scene: Scene) -> Iterator[Flaw]:
    """Two numbers for one thing: an agent that keeps to the one fails by the other."""
    demands = [("intents", n, intent.content[:2_000]) for n, intent in enumerate(task.intents, 1)]
    demands += [("checklist", n, item.criterion[:2_000]) for n, item in enumerate(task.checklist, 1)]
    request = prose(task.initial_request[:LONGEST])
    files = [
        (f"“{file.path}”", prose(text[:LONGEST]))
        for file in task.assets
        if file.path.casefold().endswith(PROSE) and (text := scene.texts.get(file.sha256))
    ]
    for place, (field, position, text) in enumerate(demands):
        others = [("The request", request), *files]
        if field == "checklist":
            others += [(f"Intent {n}", other) for where, n, other in demands[:place] if where == "intents"]
        for name, other in others:
            if found := _limits_apart(text, other) or _numbers_apart(
                text, other, OF_A_FILE if name.startswith("“") else SHARED
            ):
                mine, theirs = found
                yield Flaw(
                    field,
                    f"{name} says something else: {quote(theirs)}.",
                    "Use one number in both places.",
                    position,
                    words=mine,
                )
                break


def _limits_apart(text: str, other: str) -> tuple[str, str] | None:
    for mine in _limits(text):
        theirs = [limit for limit in _limits(other) if limit.noun == mine.noun]
        if len(theirs) == 1 and (mine.low > theirs[0].high or mine.high < theirs[0].low):
            return mine.span.text, theirs[0].span.text
    return None


@lru_cache(maxsize=4_000)
def _limits(text: str) -> tuple[Limit, ...]:
    found = []
    for match in LIMIT.finditer(text):
        number = next(iter(words(match["count"])), None)
        if number is None or number.kind != "number" or not number.key[1:].isdigit():
            continue
        count, kind = float(number.key[1:]), match["kind"].lower().rstrip(".")
        low, high = (count, count) if kind == "exactly" else (0, count) if kind.startswith(UPPER) else (count, 10**9)
        noun = match["noun"].lower().removesuffix("s")
        found.append(Limit(noun, low, high, Span(match[0], match.start(), match.end())))
    return tuple(found)


@lru_cache(maxsize=30_000)
def _numbers_apart(text: str, other: str, least: float) -> tuple[str, str] | None:
    """One number of a clause differs, and all its other words stand together in one sentence of the other text."""
    for clause in clauses(text):
        numbers = [word for word in words(clause.text) if word.kind == "number"]
        rest = [word for word in content(clause.text) if word.kind != "number"]
        weight = sum(word.weight for word in rest)
        if len(numbers) != 1 or weight < FEWEST or LABEL.search(clause.text, 0, numbers[0].start):
            continue
        for sentence in sentences(other):
            there = [word for word in words(sentence.text) if word.kind == "number"]
            if len(there) != 1 or there[0].key == numbers[0].key or _shape(text, numbers[0]) != _shape(other, there[0]):
                continue
            theirs = content(sentence.text)
            shared = sum(word.weight for word in rest if any(alike(word.key, each.key) >= 0.9 for each in theirs))
            if (
                shared >= FEWEST
                and shared / weight >= least
                and (least == SHARED or shared / (sum(word.weight for word in theirs) or 1) >= BACK)
                and _unit(clause.text, numbers[0]) == _unit(sentence.text, there[0])
            ):
                return clause.text[numbers[0].start : numbers[0].end], sentence.text
    return None


def _shape(text: str, number: Word) -> str:
    return "time" if TIME.fullmatch(number.text) else "number"


def _unit(text: str, number: Word) -> str:
    """The word after the number, or the sign before it."""
    after = next((word.key for word in words(text[number.end : number.end + 40])), "")
    before = text[max(0, number.start - 1) : number.start].strip()
    return before if before in ("$", "€", "£", "¥") else after
