"""Scores corrected for the errors of a judge, from sessions that people judged again.

The unit is a session: decisions of one session are alike, so every variance is one between sessions. The mean score
that people would give over all sessions is estimated by prediction-powered inference (Angelopoulos et al. 2023,
power-tuned as in PPI++): the mean over audited sessions of what people gave, plus λ times how much the judge gave more
over all sessions than over the audited ones. Never biased, whatever the judge does.

Arrays have sessions on their last axis and may have others before it, which are computed at once (simulations).
Intervals are 95 %, for sessions drawn from many like them, cut to 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotations.intervals import t_quantile

Floats = NDArray[np.float64]
MIN_AUDITED = 2
"""Sessions that people judged, for a variance between them."""


@dataclass(frozen=True)
class Corrected:
    """Mean and interval of the batch that the arrays' leading axes make."""

    value: Floats
    low: Floats
    high: Floats
    half_width: Floats
    """Before cutting."""

    @property
    def width(self) -> Floats:
        return self.high - self.low


@dataclass(frozen=True)
class Stratum:
    """Sessions drawn for the audit with equal chance."""

    judge: Floats
    """Scores of all sessions, as the judge decided."""
    audited: Floats
    """Those of the audited ones."""
    people: Floats
    """Scores of the audited ones, as people decided."""

    @property
    def sessions(self) -> int:
        return int(self.judge.shape[-1])

    @property
    def n(self) -> int:
        return int(self.people.shape[-1])


def raw_mean(scores: Floats) -> Corrected:
    """Of all sessions as the judge decided, with sampling as its only error."""
    return _interval(scores.mean(axis=-1), _variance(scores) / scores.shape[-1], scores.shape[-1] - 1)


def people_mean(stratum: Stratum) -> Corrected:
    """Of the audited sessions alone: what correcting gains is how much narrower its interval is."""
    return _interval(stratum.people.mean(axis=-1), _variance(stratum.people) / stratum.n, stratum.n - 1)


def prediction_powered(strata: Sequence[Stratum]) -> Corrected:
    """Over strata in proportion to their sessions. Raises ValueError if one has fewer than MIN_AUDITED audited."""
    if not strata or any(row.n < MIN_AUDITED for row in strata):
        raise ValueError(f"each stratum needs {MIN_AUDITED} audited sessions")
    total = sum(row.sessions for row in strata)
    value = np.zeros(strata[0].people.shape[:-1])
    variance = np.zeros_like(value)
    for row in strata:
        share = row.sessions / total
        scale = tuning(row)
        left = row.people - scale[..., None] * row.audited
        value = value + share * (left.mean(axis=-1) + scale * row.judge.mean(axis=-1))
        unseen = (1 / row.n - 1 / row.sessions) * _variance(left)
        variance = variance + share**2 * (unseen + _people_variance(row) / row.sessions)
    return _interval(value, variance, sum(row.n - 1 for row in strata))


def tuning(row: Stratum) -> Floats:
    """λ between 0 (the judge says nothing about people) and 1 (it is trusted in full), for the narrowest interval."""
    spread = _variance(row.audited)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = _covariance(row.people, row.audited) / spread
    return np.where(spread > 0, np.clip(np.nan_to_num(scale), 0.0, 1.0), 1.0)


def _people_variance(row: Stratum) -> Floats:
    """Of people's scores over all sessions: that of the judge's, and what differs in the audited ones."""
    error = row.people - row.audited
    known = _variance(row.judge) + 2 * _covariance(row.audited, error) + _variance(error)
    return np.maximum(known, 0.0)


def _centred(values: Floats) -> Floats:
    return np.asarray(values - values.mean(axis=-1, keepdims=True))


def _variance(values: Floats) -> Floats:
    return np.asarray(values.var(axis=-1, ddof=1))


def _covariance(first: Floats, second: Floats) -> Floats:
    return np.asarray((_centred(first) * _centred(second)).sum(axis=-1) / (first.shape[-1] - 1))


def _interval(value: Floats, variance: Floats, freedom: int) -> Corrected:
    half = t_quantile(freedom) * np.sqrt(variance)
    return Corrected(value, np.clip(value - half, 0.0, 1.0), np.clip(value + half, 0.0, 1.0), half)


def ranks(scores: Sequence[float]) -> list[int]:
    """From 1 for the highest; equal scores share a rank."""
    return [1 + sum(other > score for other in scores) for score in scores]
