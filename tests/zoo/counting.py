"""What a service counts and bills: tokens by kind, a cache of prefixes, prices."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

CHARACTERS = 4
"""Of a token, for every service of the zoo."""


def tokens_in(text: str) -> int:
    return -(-len(text) // CHARACTERS)


@dataclass(frozen=True)
class Counted:
    """Tokens of one answer. ``prompt`` holds ``cached`` and ``written``, ``completion`` holds ``reasoning``."""

    prompt: int
    cached: int
    written: int
    completion: int
    reasoning: int


@dataclass(frozen=True)
class Prices:
    """US dollars per million tokens."""

    input: Decimal = Decimal("2")
    cached: Decimal = Decimal("0.2")
    written: Decimal = Decimal("2.5")
    output: Decimal = Decimal("8")

    def of(self, counted: Counted) -> Decimal:
        fresh = counted.prompt - counted.cached - counted.written
        return (
            self.input * fresh
            + self.cached * counted.cached
            + self.written * counted.written
            + self.output * counted.completion
        ) / 1_000_000


@dataclass
class PrefixCache:
    """Remembers every prompt: a later one has what it shares with any of them from its start."""

    seen: list[str] = field(default_factory=list)

    def shared(self, prompt: str) -> int:
        """Tokens of the longest start that an earlier prompt had, too; remembers this one."""
        longest = max((_common(prompt, earlier) for earlier in self.seen), default=0)
        self.seen.append(prompt)
        return longest // CHARACTERS


def _common(one: str, other: str) -> int:
    """By bisection, since a loop over characters takes seconds in a long session."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
