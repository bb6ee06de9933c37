"""Agreement for nominal answers: percent, Cohen's and Fleiss' κ, Krippendorff's α and Gwet's AC1 between people, and
the confusion matrix of a judge against them.

Each is None where undefined: nothing to compare, or no variation to agree about beyond chance. Chance is that of one
kind of question: questions of several kinds are never taken together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum, sqrt
from typing import TypeVar

from annotations.intervals import t_quantile

Row = TypeVar("Row")
Unit = Sequence[Hashable]
"""The answers to one packet, in any order, without missing ones."""
MIN_SESSIONS = 3
"""For an interval."""
MAX_GROUPS = 20
"""Into which sessions are dealt for an interval, so that its cost does not grow with their square."""


@dataclass(frozen=True)
class Coefficient:
    """With a 95 % interval, cut to −1 and 1; None where there are too few sessions or these do not differ."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def text(self) -> str:
        """``0.41 (−0.02–0.84)``"""
        if self.value is None:
            return "–"
        ends = "" if self.low is None or self.high is None else f" ({self.low:.2f}–{self.high:.2f})"
        return f"{self.value:.2f}{ends}".replace("-", "−")


def disagreement(units: Sequence[Unit]) -> float | None:
    pairs = differing = 0
    for unit in units:
        for first, second in combinations(unit, 2):
            pairs += 1
            differing += first != second
    return differing / pairs if pairs else None


def cohen_kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Two people over the same packets (Cohen 1960)."""
    if len(first) != len(second):
        raise ValueError("both people must have answered the same packets")
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    shares, others = Counter(first), Counter(second)
    expected = sum(shares[label] * others[label] for label in shares) / n**2
    return None if expected == 1 else (observed - expected) / (1 - expected)


def fleiss_kappa(units: Sequence[Unit]) -> float | None:
    """Any number of people, the same number for each packet (Fleiss 1971)."""
    if not units:
        return None
    raters = len(units[0])
    if any(len(unit) != raters for unit in units):
        raise ValueError("every packet needs the same number of answers; use krippendorff_alpha otherwise")
    if raters < 2:
        return None
    totals: Counter[Hashable] = Counter()
    observed = 0.0
    for unit in units:
        counts = Counter(unit)
        totals.update(counts)
        observed += (sum(count**2 for count in counts.values()) - raters) / (raters * (raters - 1))
    observed /= len(units)
    expected = sum((count / (len(units) * raters)) ** 2 for count in totals.values())
    return None if expected == 1 else (observed - expected) / (1 - expected)


def krippendorff_alpha(units: Sequence[Unit]) -> float | None:
    """Any number of people and gaps, nominal (Krippendorff 2011, computing reliability). Needs no complete table."""
    pairable = [Counter(unit) for unit in units if len(unit) >= 2]
    totals: Counter[Hashable] = Counter()
    for counts in pairable:
        totals.update(counts)
    n = totals.total()
    if n < 2:
        return None
    observed = sum(
        sum(count * (counts.total() - count) for count in counts.values()) / (counts.total() - 1) for counts in pairable
    )
    expected = sum(count * (n - count) for count in totals.values()) / (n - 1)
    return None if expected == 0 else 1 - observed / expected


def gwet_ac1(units: Sequence[Unit], labels: Collection[Hashable] = ()) -> float | None:
    """Any number of people and gaps (Gwet 2008). Holds where nearly everybody gives the same answer, unlike κ and α.

    ``labels`` are answers that could have been given and count as such even if nobody gave them. None with fewer
    than two answers to choose from.
    """
    answered = [Counter(unit) for unit in units if unit]
    pairable = [counts for counts in answered if counts.total() >= 2]
    known = set(labels).union(*answered)
    if not pairable or len(known) < 2:
        return None
    observed = sum(
        sum(count * (count - 1) for count in counts.values()) / (counts.total() * (counts.total() - 1))
        for counts in pairable
    ) / len(pairable)
    shares = [sum(counts[label] / counts.total() for counts in answered) / len(answered) for label in known]
    expected = fsum(share * (1 - share) for share in shares) / (len(known) - 1)
    return (observed - expected) / (1 - expected)


@dataclass(frozen=True)
class Confusion:
    """A judge's yes and no beside those of people."""

    both_yes: int
    too_lenient: int
    """The judge said yes, people said no."""
    too_strict: int
    """The judge said no, people said yes."""
    both_no: int

    @property
    def n(self) -> int:
        return self.both_yes + self.too_lenient + self.too_strict + self.both_no

    @property
    def people_yes(self) -> int:
        return self.both_yes + self.too_strict

    @property
    def people_no(self) -> int:
        return self.both_no + self.too_lenient


def count_confusion(pairs: Iterable[tuple[bool, bool]]) -> Confusion:
    """``pairs``: the judge's answer and that of people, for each decision."""
    counts = Counter(pairs)
    return Confusion(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def estimate(rows: Sequence[tuple[str, Row]], measure: Callable[[Sequence[Row]], float | None]) -> Coefficient:
    """What ``measure`` makes of rows, each given with its session, by the delete-a-group jackknife over sessions (Kott
    2001): answers on one session are alike."""
    sessions = {session: number % MAX_GROUPS for number, session in enumerate(sorted({session for session, _ in rows}))}
    value = measure([row for _, row in rows])
    groups = min(MAX_GROUPS, len(sessions))
    if value is None or groups < MIN_SESSIONS:
        return Coefficient(value)
    found = [measure([row for session, row in rows if sessions[session] != group]) for group in range(groups)]
    without = [each for each in found if each is not None]
    mean = fsum(without) / max(1, len(without))
    spread = sqrt((groups - 1) / groups * fsum((each - mean) ** 2 for each in without))
    if len(without) < groups or not spread:
        return Coefficient(value)
    half = t_quantile(groups - 1) * spread
    return Coefficient(value, max(-1.0, value - half), min(1.0, value + half))
