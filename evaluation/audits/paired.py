"""Whether one judge is worse than another on the same decisions of people. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

ALPHA = 0.05
"""One-sided, for each of the two questions asked."""


@dataclass(frozen=True)
class PairedCase:
    """A decision of people that both judges made too."""

    cluster: str
    """Its session: decisions of one session are no independent draws."""
    credit: bool
    """Whether people give credit."""
    right_before: bool
    right_now: bool
    """As people decided."""
    passed_before: bool
    passed_now: bool
    """Whether the judge gave credit."""


@dataclass(frozen=True)
class PairedShare:
    """A share of mistakes of two judges on the same ``n`` decisions."""

    n: int
    before: int
    now: int
    p: float
    """Of as many more mistakes, or more, if both judges were equally good."""

    @property
    def is_worse(self) -> bool:
        return self.now > self.before and self.p < ALPHA


@dataclass(frozen=True)
class PairedComparison:
    sessions: int
    wrong: PairedShare
    """Decisions unlike people's."""
    false_pass: PairedShare
    """Credit that people do not give, of the decisions without it."""

    @property
    def is_worse(self) -> bool:
        return self.wrong.is_worse or self.false_pass.is_worse


def compare(cases: Iterable[PairedCase]) -> PairedComparison:
    rows = list(cases)
    without = [row for row in rows if not row.credit]
    return PairedComparison(
        sessions=len({row.cluster for row in rows}),
        wrong=_share([(row.cluster, not row.right_before, not row.right_now) for row in rows]),
        false_pass=_share([(row.cluster, row.passed_before, row.passed_now) for row in without]),
    )


def _share(mistakes: list[tuple[str, bool, bool]]) -> PairedShare:
    more: dict[str, int] = defaultdict(int)
    for cluster, before, now in mistakes:
        more[cluster] += now - before
    return PairedShare(
        n=len(mistakes),
        before=sum(before for _, before, _ in mistakes),
        now=sum(now for _, _, now in mistakes),
        p=sign_flip_p(more.values()),
    )


def sign_flip_p(differences: Iterable[int]) -> float:
    """The exact chance of their sum or a greater one, if each were as likely to have the other sign.

    With one decision in each cluster this is McNemar's exact test (1947), one-sided; with several, the permutation
    test of clustered pairs: Fisher's randomization of signs (1935), session by session.
    """
    sizes = [difference for difference in differences if difference]
    chances: dict[int, float] = {0: 1.0}
    for size in sizes:
        following: dict[int, float] = defaultdict(float)
        for total, chance in chances.items():
            following[total + size] += chance / 2
            following[total - size] += chance / 2
        chances = following
    return min(1.0, sum(chance for total, chance in chances.items() if total >= sum(sizes)))
