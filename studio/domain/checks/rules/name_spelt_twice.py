import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from studio.domain.bounded_cache import cached
from studio.domain.checks.rule import CheckContext, Flaw, rule
from studio.domain.checks.sources import established_text, visible_text
from studio.domain.task import TaskSpec

CAPITAL = re.compile(r"(?<![\w’'-])[A-Z][\w’'-]*+")
SMALL = re.compile(r"[a-z]")
MIN_LETTERS = 5
"""Minimum letters of a name; shorter ones are similar by chance."""


@rule("name-spelt-twice", "warning", across_tasks=True)
def name_spelt_twice(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A name with two spellings: an agent that follows one fails by the other."""
    demands = [("intents", n, intent.content) for n, intent in enumerate(task.intents, 1)]
    demands += [("checklist", n, item.criterion) for n, item in enumerate(task.checklist, 1)]
    if not any(_names(text) for _, _, text in demands):
        return
    known = _names(visible_text(task, context)).union(
        *(_names(established_text(earlier)) for earlier in context.earlier(task))
    )
    by_part = _by_part(known)
    seen = set()
    for field, position, text in demands:
        for name in sorted(_names(text) - known):
            candidates = {other for part in _parts(name) for other in by_part.get(part, ())}
            other = next((candidate for candidate in sorted(candidates) if _is_misspelt(name, candidate)), None)
            if other and name not in seen:
                seen.add(name)
                yield Flaw(
                    field,
                    f"The name “{name}” is spelt “{other}” elsewhere.",
                    "Use the same spelling in both places.",
                    position,
                    passage=name,
                    data=other,
                )


def _by_part(names: Iterable[str]) -> dict[tuple[int, str], list[str]]:
    """Names by first and by last word: spelt twice, they share one of them."""
    by_part: dict[tuple[int, str], list[str]] = {}
    for name in names:
        for part in _parts(name):
            by_part.setdefault(part, []).append(name)
    return by_part


def _parts(name: str) -> list[tuple[int, str]]:
    return list(enumerate(name.casefold().split()))


@cached(1_000_000)
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
