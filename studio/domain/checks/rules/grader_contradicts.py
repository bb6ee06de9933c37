import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from studio.domain.checks.limits import Limit, limits
from studio.domain.checks.quotes import quote
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.rules.name_spelt_twice import is_one_edit_apart
from studio.domain.checks.scripts import LoadedScript, script_of
from studio.domain.checks.sources import established_text, profile_text, visible_text
from studio.domain.findings import Severity
from studio.domain.graders import Amount
from studio.domain.task import TaskSpec

MARKED = re.compile(r"[^\s,;“”\"'()\[\]{}<>|]*\d[^\s;“”\"'()\[\]{}<>|]*")
"""A number, with all that is written to it: INV-2043, 10:45, £4,800."""
ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
LONG = re.compile(r"[^\W\d_]{6,}")
NAME = re.compile(r"\b[A-Z][a-z]{5,}\b")
DAY_OR_TIME = re.compile(r"\d{1,2}[:.]\d\d|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
FEWEST = 3
"""Digits of a number that can be mistaken for another."""
LONGEST = 40_000
FIX = "Make the script and the task consistent."


class Slip(NamedTuple):
    theirs: str
    severity: Severity


@rule("grader-contradicts", "warning")
def grader_contradicts(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The script looks for the same numbers, dates and names as request, intents, checklist and files have. A day or
    a time is a hint: it may follow from another one."""
    script = script_of(task, context)
    if script is None:
        return
    yield from _amounts(script, task)
    readable = _readable(task, context)
    marks = list(dict.fromkeys(found[0].strip(".,:") for found in MARKED.finditer(readable)))[:500]
    addresses = list(dict.fromkeys(found[0].casefold() for found in ADDRESS.finditer(readable)))[:200]
    names = list(dict.fromkeys(found[0] for found in NAME.finditer(readable)))[:500]
    lower = readable.casefold()
    for demand in script.reading.demands:
        if any(word.casefold() in lower for word in demand.any_of):
            continue
        for word in demand.any_of:
            if slip := _slip(word, lower, marks, addresses, names):
                yield Flaw(
                    "grader_script",
                    f"“{script.name}” looks for {quote(word)} (line {demand.line}), and the task has "
                    f"{quote(slip.theirs)}.",
                    FIX,
                    words=word if word in script.source else "",
                    severity=slip.severity,
                )
                break


def _slip(word: str, lower: str, marks: Sequence[str], addresses: Sequence[str], names: Sequence[str]) -> Slip | None:
    """What stands in the task and is nearly what the script looks for."""
    for found in ADDRESS.finditer(word):
        if other := _other_address(found[0].casefold(), addresses):
            return Slip(other, "warning")
    for found in MARKED.finditer(word):
        mine = found[0].strip(".,:")
        known = "@" in mine or mine.casefold() in lower or sum(map(str.isdigit, mine)) < FEWEST
        if not known and (other := next((one for one in marks if _misread(mine, one)), "")):
            return Slip(other, "hint" if DAY_OR_TIME.fullmatch(mine) else "warning")
    for part in (found.casefold() for found in LONG.findall(word)):
        if part not in lower and (other := next((name for name in names if _near(part, name.casefold())), "")):
            return Slip(other, "warning")
    return None


def _other_address(mine: str, addresses: Sequence[str]) -> str:
    """One of the same name elsewhere, or the only one of the same place."""
    name, place = mine.split("@")
    if mine in addresses:
        return ""
    there = [other for other in addresses if other.endswith(f"@{place}")]
    return next((other for other in addresses if other.startswith(f"{name}@")), there[0] if len(there) == 1 else "")


def _misread(one: str, other: str) -> bool:
    """Written alike, and of the same digits in another order or with one of them changed."""
    if re.sub(r"\d", "0", one.casefold()) != re.sub(r"\d", "0", other.casefold()) or one.casefold() == other.casefold():
        return False
    mine, theirs = re.sub(r"\D", "", one), re.sub(r"\D", "", other)
    return sorted(mine) == sorted(theirs) or sum(a != b for a, b in zip(mine, theirs, strict=True)) == 1


def _near(one: str, other: str) -> bool:
    plain, there = one.removesuffix("s"), other.removesuffix("s")
    return plain != there and abs(len(one) - len(other)) <= 1 and is_one_edit_apart(one, other)


def _amounts(script: LoadedScript, task: TaskSpec) -> Iterator[Flaw]:
    texts = [("the request", task.initial_request[:LONGEST])]
    texts += [(f"intent {n}", intent.content[:2_000]) for n, intent in enumerate(task.intents, 1)]
    texts += [(f"checklist item {n}", item.criterion[:2_000]) for n, item in enumerate(task.checklist, 1)]
    stated = [(where, limit) for where, text in texts for limit in limits(text)]
    for amount in script.reading.amounts:
        there = [(where, limit) for where, limit in stated if limit.noun == amount.noun]
        if len({(limit.low, limit.high) for _, limit in there}) == 1 and _apart(amount, there[0][1]):
            where, limit = there[0]
            yield Flaw(
                "grader_script",
                f"“{script.name}” counts {_says(amount)} (line {amount.line}), and {where} says "
                f"{quote(limit.span.text)}.",
                FIX,
            )


def _apart(amount: Amount, limit: Limit) -> bool:
    """Whether the script asks for more, or allows less, than the task; one more or less is “under” or “at most”."""
    if amount.low > limit.high or amount.high < limit.low:
        return True
    stricter = limit.high < 10**9 and amount.high < limit.high - 1
    return stricter or (limit.low > 0 and amount.low > limit.low + 1)


def _says(amount: Amount) -> str:
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
    parts = [f"{established_text(one)}\n{visible_text(one, context)[:LONGEST]}" for one in tasks]
    return "\n".join((*parts, profile_text(context.episode.persona), task.reference_workflow))
