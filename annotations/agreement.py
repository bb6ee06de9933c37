"""Agreement for nominal answers: percent, Cohen's and Fleiss' κ, Krippendorff's α and Gwet's AC1 between people, and
the confusion matrix of a judge against them.

Each is None where undefined: nothing to compare, or no variation to agree about beyond chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import fsum

Unit = Sequence[Hashable]
"""The answers to one packet, in any order, without missing ones."""


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
