import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.task import TaskSpec

CAPITAL = re.compile(r"(?<![\w’'-])[A-Z][\w’'-]*+")
SMALL = re.compile(r"[a-z]")
FEWEST = 5
"""Letters of a name that is compared: shorter ones are alike by chance."""


@rule("name-spelt-twice", "warning")
def name_spelt_twice(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A name that is spelt in two ways: an agent that keeps to the one fails by the other."""
    demands = [("intents", n, intent.content) for n, intent in enumerate(task.intents, 1)]
    demands += [("checklist", n, item.criterion) for n, item in enumerate(task.checklist, 1)]
    if not any(_names(text) for _, _, text in demands):
        return
    known = _names(visible_text(task, context)).union(*(_names(established_text(one)) for one in context.earlier(task)))
    seen = set()
    for field, position, text in demands:
        for name in sorted(_names(text) - known):
            other = next((one for one in sorted(known) if _misspelt(name, one)), None)
            if other and name not in seen:
                seen.add(name)
                yield Flaw(
                    field,
                    f"The name “{name}” is spelt “{other}” elsewhere.",
                    "Use the same spelling in both places.",
                    position,
                    words=name,
                )


@lru_cache(maxsize=2_000)
def _names(text: str) -> frozenset[str]:
    """Pairs of neighbouring capitals: a single one may only open a sentence."""
    found = [match for match in CAPITAL.finditer(text, 0, 60_000) if SMALL.search(match[0])]
    return frozenset(f"{one[0]} {other[0]}" for one, other in pairwise(found) if text[one.end() : other.start()] == " ")


def _misspelt(one: str, other: str) -> bool:
    """Whether one word differs in one or two letters, and all others are the same."""
    apart = [(a, b) for a, b in zip(one.split(), other.split(), strict=True) if a.casefold() != b.casefold()]
    if len(apart) != 1:
        return False
    a, b = apart[0]
    if min(len(a), len(b)) < FEWEST or _bare(a) == _bare(b):
        return False
    return is_one_edit_apart(a.casefold(), b.casefold())


def _bare(word: str) -> str:
    """Without the endings of more than one and of whose."""
    return word.casefold().replace("’", "'").removesuffix("'s").rstrip("s'")


def is_one_edit_apart(one: str, other: str) -> bool:
    """One letter more, less, other, or two neighbours changed about."""
    start = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    if start == 0:
        return False
    rest, there = one[start:], other[start:]
    return (
        rest[1:] == there
        or rest == there[1:]
        or rest[1:] == there[1:]
        or (rest[:2] == there[1::-1] and rest[2:] == there[2:])
    )
