import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from studio.domain.checks.limits import Limit, limits
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.rules.name_spelt_twice import is_one_edit_apart
from studio.domain.checks.scripts import ReadableScript, script_of
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.findings import Severity
from studio.domain.graders import Amount
from studio.domain.task import TaskSpec

NUMBER = re.compile(r"[^\s,;“”\"'()\[\]{}<>|]*\d[^\s;“”\"'()\[\]{}<>|]*")
"""A number with everything attached to it: INV-2043, 10:45, £4,800."""
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
LONG_WORD = re.compile(r"[^\W\d_]{6,}")
NAME = re.compile(r"\b[A-Z][a-z]{5,}\b")
DAY_OR_TIME = re.compile(r"\d{1,2}[:.]\d\d|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
MIN_DIGITS = 3
"""Minimum digits of a number that can be mistaken for another."""
LONGEST = 40_000
FIX = "Make the script and the task consistent."


class Mismatch(NamedTuple):
    theirs: str
    severity: Severity


@rule("grader-contradicts", "warning", across_tasks=True)
def grader_contradicts(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script looks for the same numbers, dates and names as request, intents, checklist and files contain. A day or
    time is a hint, because it may follow from another one."""
    script = script_of(task, context)
    if script is None:
        return
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
                yield Flaw(
                    "grader_script",
                    f"“{script.name}” looks for {quote(word)} (line {demand.line}), and the task has "
                    f"{quote(mismatch.theirs)}.",
                    FIX,
                    passage=word if word in script.source else "",
                    severity=mismatch.severity,
                )
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
            yield Flaw(
                "grader_script",
                f"“{script.name}” counts {_describe(amount)} (line {amount.line}), and {where} says "
                f"{quote(limit.span.text)}.",
                FIX,
            )


def _is_stricter(amount: Amount, limit: Limit) -> bool:
    """A difference of one does not count: it is “under” or “at most”."""
    if amount.low > limit.high or amount.high < limit.low:
        return True
    stricter = limit.high < 10**9 and amount.high < limit.high - 1
    return stricter or (limit.low > 0 and amount.low > limit.low + 1)


def _describe(amount: Amount) -> str:
    if amount.low == amount.high:
        return f"exactly {amount.low:g} {amount.noun}s"
    if amount.high == float("inf"):
        return f"at least {amount.low:g} {amount.noun}s"
    return (
        f"at most {amount.high:g} {amount.noun}s"
        if not amount.low
        else f"{amount.low:g} to {amount.high:g} {amount.noun}s"
    )


def _readable(task: TaskSpec, context: CheckContext) -> str:
    tasks = (*context.earlier(task), task)
    parts = [f"{established_text(other)}\n{visible_text(other, context)[:LONGEST]}" for other in tasks]
    return "\n".join((*parts, profile_text(context.episode.persona), task.reference_workflow))
