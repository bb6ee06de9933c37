import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from studio.domain.checks.facts import Limit, limits
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, ReadableScript, in_script, rule
from studio.domain.checks.rules.agreement import is_one_edit_apart
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.findings import Severity
from studio.domain.graders import Amount
from studio.domain.task import TaskSpec
from studio.domain.text.words import content_words

MIN_CHARACTERS = 3
"""Minimum characters; shorter text is a symbol, not a word."""
ASKS = re.compile(
    r"\b(?:please|must|should|needs?|wants?|requires?|include|ensure|sure|could|can|would|let|only|exactly|at least"
    r"|do not|don't|never|always|create|write|draft|send|make|prepare|add|put|give|tell|find|book|set|keep|use)\b|[?:]",
    re.IGNORECASE,
)


@rule("grader-word-unasked", "warning", across_tasks=True)
@in_script("Ask for it in an intent, the request or a file, or accept other wording.")
def grader_word_unasked(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script requires only text that something asks for; of alternatives, one is enough. A hint if the text is
    mentioned but, unlike the others required with it, not asked for. Silent if a file of the task cannot be read here.
    """
    if not script.reading.demands or any(file.sha256 not in context.texts for file in task.assets):
        return
    known_words, asked_words = map(_Vocabulary, (_readable_texts(task, context), _asking_texts(task, context)))
    groups: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for demand in script.reading.demands:
        if all(_is_word(word) for word in demand.any_of):
            groups[demand.line].append(demand.any_of)
    seen = set()
    for line, group in groups.items():
        asked = [texts for texts in group if any(map(asked_words.has, texts))]
        for texts in group:
            if texts in seen or texts in asked:
                continue
            severity: Severity = "warning"
            if not any(map(known_words.has, texts)):
                why = "which nothing in the task or before it asks for"
            elif len(texts) == 1 and len(group) > 2 and len(asked) == len(group) - 1:
                why = "which is mentioned but not asked for, as the other words are that it requires there"
                severity = "hint"
            else:
                continue
            seen.add(texts)
            wanted = f"“{script.name}” requires {' or '.join(quote(text) for text in texts[:3])} (line {line})"
            yield Flaw(f"{wanted}, {why}.", passage=texts[0], about="\n".join(texts), severity=severity)


def _is_word(text: str) -> bool:
    return sum(letter.isalnum() for letter in text) >= MIN_CHARACTERS and any(letter.isalpha() for letter in text)


def _asking_texts(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    """Of the request, only the sentences that ask for something."""
    yield from (sentence for sentence in re.split(r"(?<=[.!?\n])\s+", task.initial_request) if ASKS.search(sentence))
    yield from (intent.content for intent in task.intents)
    yield from (item.criterion for item in task.checklist)
    yield from (*task.expected_paths, *task.files_read, str(task.trigger.payload))
    for file in task.assets:
        yield from (file.path, context.texts.get(file.sha256, ""))


def _readable_texts(task: TaskSpec, context: CheckContext) -> Iterator[str]:
    persona = context.episode.persona
    for other in (task, *context.earlier(task)):
        yield from (
            established_text(other),
            visible_text(other, context),
            *(file.path for file in other.assets),
            *other.tools,
        )
    yield from (persona.role_text, persona.occupation, persona.routines, persona.working_style)
    yield from (str(persona.preferences), str(persona.long_term_goals))


class _Vocabulary:
    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self.text = " ".join("\n".join(texts).casefold().split())
        self.keys = {word.key for text in texts for word in content_words(text)}

    def has(self, text: str) -> bool:
        if " ".join(text.casefold().split()) in self.text:
            return True
        wanted = [word for word in content_words(text) if word.kind != "file"]
        return bool(wanted) and all(word.key in self.keys or word.text.casefold() in self.text for word in wanted)


NUMBER = re.compile(r"[^\s,;“”\"'()\[\]{}<>|]*\d[^\s;“”\"'()\[\]{}<>|]*")
"""A number with everything attached to it: INV-2043, 10:45, £4,800."""
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
LONG_WORD = re.compile(r"[^\W\d_]{6,}")
NAME = re.compile(r"\b[A-Z][a-z]{5,}\b")
DAY_OR_TIME = re.compile(r"\d{1,2}[:.]\d\d|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
MIN_DIGITS = 3
"""Minimum digits of a number that can be mistaken for another."""
LONGEST = 40_000


class Mismatch(NamedTuple):
    theirs: str
    severity: Severity


@rule("grader-contradicts", "warning", across_tasks=True)
@in_script("Make the script and the task consistent.")
def grader_contradicts(script: ReadableScript, task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script looks for the same numbers, dates and names as request, intents, checklist and files contain. A day or
    time is a hint, because it may follow from another one."""
    yield from _amount_flaws(script, task)
    readable = _readable(task, context)
    numbers = list(dict.fromkeys(match[0].strip(".,:") for match in NUMBER.finditer(readable)))[:500]
    addresses = list(dict.fromkeys(match[0].casefold() for match in ADDRESS.finditer(readable)))[:200]
    names = list(dict.fromkeys(match[0] for match in NAME.finditer(readable)))[:500]
    lower = readable.casefold()
    for demand in script.reading.demands:
        if any(word.casefold() in lower for word in demand.any_of):
            continue
        for word in demand.any_of:
            if mismatch := _find_mismatch(word, lower, numbers, addresses, names):
                message = f"“{script.name}” looks for {quote(word)} (line {demand.line}), and the task has "
                passage = word if word in script.source else ""
                yield Flaw(f"{message}{quote(mismatch.theirs)}.", passage=passage, severity=mismatch.severity)
                break


def _find_mismatch(
    word: str, lower: str, numbers: Sequence[str], addresses: Sequence[str], names: Sequence[str]
) -> Mismatch | None:
    for match in ADDRESS.finditer(word):
        if other := _other_address(match[0].casefold(), addresses):
            return Mismatch(other, "warning")
    for match in NUMBER.finditer(word):
        mine = match[0].strip(".,:")
        known = "@" in mine or mine.casefold() in lower or sum(map(str.isdigit, mine)) < MIN_DIGITS
        if not known and (other := next((number for number in numbers if _is_misread(mine, number)), "")):
            return Mismatch(other, "hint" if DAY_OR_TIME.fullmatch(mine) else "warning")
    for part in (match.casefold() for match in LONG_WORD.findall(word)):
        if part not in lower and (other := next((name for name in names if _is_misspelt(part, name.casefold())), "")):
            return Mismatch(other, "warning")
    return None


def _other_address(mine: str, addresses: Sequence[str]) -> str:
    """An address with the same name at another domain, or the only one of its domain."""
    name, domain = mine.split("@")
    if mine in addresses:
        return ""
    same_domain = [other for other in addresses if other.endswith(f"@{domain}")]
    return next(
        (other for other in addresses if other.startswith(f"{name}@")), same_domain[0] if len(same_domain) == 1 else ""
    )


def _is_misread(number: str, other: str) -> bool:
    """Same format, with two digits swapped or one changed."""
    if (
        re.sub(r"\d", "0", number.casefold()) != re.sub(r"\d", "0", other.casefold())
        or number.casefold() == other.casefold()
    ):
        return False
    digits, other_digits = re.sub(r"\D", "", number), re.sub(r"\D", "", other)
    return sorted(digits) == sorted(other_digits) or sum(a != b for a, b in zip(digits, other_digits, strict=True)) == 1


def _is_misspelt(word: str, other: str) -> bool:
    singular, other_singular = word.removesuffix("s"), other.removesuffix("s")
    return singular != other_singular and abs(len(word) - len(other)) <= 1 and is_one_edit_apart(word, other)


def _amount_flaws(script: ReadableScript, task: TaskSpec) -> Iterator[Flaw]:
    texts = [("the request", task.initial_request[:LONGEST])]
    texts += [(f"intent {n}", intent.content[:2_000]) for n, intent in enumerate(task.intents, 1)]
    texts += [(f"checklist item {n}", item.criterion[:2_000]) for n, item in enumerate(task.checklist, 1)]
    stated = [(where, limit) for where, text in texts for limit in limits(text)]
    for amount in script.reading.amounts:
        same_unit = [(where, limit) for where, limit in stated if limit.noun == amount.noun]
        if len({(limit.low, limit.high) for _, limit in same_unit}) == 1 and _is_stricter(amount, same_unit[0][1]):
            where, limit = same_unit[0]
            counted = f"{_describe(amount)} (line {amount.line})"
            message = f"“{script.name}” counts {counted}, and {where} says {quote(limit.span.text)}."
            yield Flaw(message, about=f"{counted}: {limit.span.text}")


def _is_stricter(amount: Amount, limit: Limit) -> bool:
    """A difference of one does not count: it is “under” or “at most”."""
    if amount.low > limit.high or amount.high < limit.low:
        return True
    stricter = limit.high < 10**9 and amount.high < limit.high - 1
    return stricter or (limit.low > 0 and amount.low > limit.low + 1)


def _describe(amount: Amount) -> str:
    if amount.low == amount.high:
        count = f"exactly {amount.low:g}"
    elif amount.high == float("inf"):
        count = f"at least {amount.low:g}"
    else:
        count = f"{amount.low:g} to {amount.high:g}" if amount.low else f"at most {amount.high:g}"
    return f"{count} {amount.noun}s"


def _readable(task: TaskSpec, context: CheckContext) -> str:
    tasks = (*context.earlier(task), task)
    parts = [f"{established_text(other)}\n{visible_text(other, context)[:LONGEST]}" for other in tasks]
    return "\n".join((*parts, profile_text(context.episode.persona), task.reference_workflow))
