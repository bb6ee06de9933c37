"""Scores corrected for a judge's errors: worked cases, and a simulation of audits whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from annotations.correction import (
    Corrected,
    Stratum,
    people_mean,
    prediction_powered,
    ranks,
    raw_mean,
    tuning,
)
from annotations.intervals import t_quantile

AUDITS = 1_500
"""Simulated audits of each kind: the standard error of a coverage of 95 % is 0.56 points."""
ITEMS = 6
MODELS = {"weak": (0.45, 120, 30), "middling": (0.7, 200, 40), "strong": (0.9, 300, 60)}
"""Share of items met, sessions and audited sessions of each."""
ERRORS = (0.0, 0.01, 0.03, 0.08, 0.15)


def array(*values: float) -> np.ndarray:
    return np.array(values, dtype=float)


def test_a_judge_without_errors_leaves_the_score_as_it_is():
    judge = np.tile(array(0.2, 0.4, 0.6, 0.8, 1.0, 0.5), 10)
    row = Stratum(judge, judge[:12], judge[:12])

    found = prediction_powered([row])

    assert float(found.value) == pytest.approx(float(judge.mean()))
    assert float(found.width) < float(people_mean(row).width)


def test_a_constant_error_is_taken_out_in_full():
    people = array(0.1, 0.3, 0.5, 0.6, 0.2, 0.4, 0.5, 0.6)
    judge = people + 0.2

    found = prediction_powered([Stratum(judge, judge[:4], people[:4])])

    assert float(found.value) == pytest.approx(float(people.mean()))


def test_strata_count_by_their_sessions():
    small = Stratum(array(1, 1), array(1, 1), array(1, 1))
    large = Stratum(array(0, 0, 0, 0, 0, 0), array(0, 0), array(0, 0))

    assert float(prediction_powered([small, large]).value) == pytest.approx(0.25)


def test_a_stratum_needs_two_audited_sessions():
    with pytest.raises(ValueError, match="2 audited sessions"):
        prediction_powered([Stratum(array(1, 0), array(1), array(1))])


JUDGE = array(0.2, 0.9, 0.4, 0.7, 0.5, 0.8, 0.3, 0.6)
PEOPLE = array(0.2, 0.8, 0.5, 0.4)


def by_hand(judge: np.ndarray, people: np.ndarray) -> tuple[float, float]:
    """Value and variance, as Angelopoulos et al. have them; the judge is trusted in part."""
    audited = judge[: len(people)]
    trust = np.cov(people, audited)[0, 1] / np.var(audited, ddof=1)
    assert 0 < trust < 1
    left, error = people - trust * audited, people - audited
    unseen = (1 / len(people) - 1 / len(judge)) * np.var(left, ddof=1)
    of_people = np.var(judge, ddof=1) + 2 * np.cov(audited, error)[0, 1] + np.var(error, ddof=1)
    return left.mean() + trust * judge.mean(), unseen + of_people / len(judge)


def test_value_and_interval_are_those_of_prediction_powered_inference():
    value, variance = by_hand(JUDGE, PEOPLE)

    found = prediction_powered([Stratum(JUDGE, JUDGE[:4], PEOPLE)])

    half = t_quantile(3) * variance**0.5
    assert (float(found.value), float(found.half_width)) == (pytest.approx(value), pytest.approx(half))
    assert (float(found.low), float(found.high)) == (pytest.approx(value - half), pytest.approx(min(1.0, value + half)))


def test_people_who_differ_less_than_the_judge_leave_only_the_error_of_the_audit():
    people = array(0.3, 0.7, 0.4, 0.6)
    trust = np.cov(people, JUDGE[:4])[0, 1] / np.var(JUDGE[:4], ddof=1)

    found = prediction_powered([Stratum(JUDGE, JUDGE[:4], people)])

    unseen = (1 / 4 - 1 / 8) * np.var(people - trust * JUDGE[:4], ddof=1)
    assert float(found.half_width) == pytest.approx(t_quantile(3) * unseen**0.5)


def test_errors_of_strata_add_up_by_the_squares_of_their_shares():
    other, theirs = 1 - JUDGE[:6], 1 - PEOPLE[:3]
    (value, variance), (value2, variance2) = by_hand(JUDGE, PEOPLE), by_hand(other, theirs)

    found = prediction_powered([Stratum(JUDGE, JUDGE[:4], PEOPLE), Stratum(other, other[:3], theirs)])

    error = ((8 / 14) ** 2 * variance + (6 / 14) ** 2 * variance2) ** 0.5
    assert float(found.value) == pytest.approx((8 * value + 6 * value2) / 14)
    assert float(found.half_width) == pytest.approx(t_quantile(5) * error)


@pytest.mark.parametrize(
    ("people", "trust"),
    [
        (1 - JUDGE[:4], 0.0),  # against the judge
        (2 * JUDGE[:4], 1.0),
        (array(0.5, 0.5, 0.5, 0.5), 0.0),
    ],
)
def test_a_judge_is_trusted_from_not_at_all_to_in_full(people: np.ndarray, trust: float):
    assert float(tuning(Stratum(JUDGE, JUDGE[:4], people))) == trust
    assert float(tuning(Stratum(JUDGE, array(0.5, 0.5, 0.5, 0.5), people))) == 1.0


def test_plain_means_have_the_interval_of_as_many_sessions():
    raw, people = raw_mean(JUDGE), people_mean(Stratum(JUDGE, JUDGE[:4], PEOPLE))

    assert float(raw.half_width) == pytest.approx(t_quantile(7) * np.std(JUDGE, ddof=1) / 8**0.5)
    assert float(people.half_width) == pytest.approx(t_quantile(3) * np.std(PEOPLE, ddof=1) / 2)
    assert (float(raw.value), float(people.value)) == (pytest.approx(0.55), pytest.approx(0.475))


def test_equal_scores_share_a_rank():
    assert ranks([0.5, 0.7, 0.5, 0.1]) == [2, 1, 2, 4]


class Simulation:
    """Audits of one model whose sessions differ; the judge errs on each item, more often towards yes."""

    def __init__(self, model: str, error: float) -> None:
        self.truth, sessions, self.n = MODELS[model]
        rng = np.random.default_rng([2605, list(MODELS).index(model), round(1000 * error)])
        quality = rng.beta(4 * self.truth, 4 * (1 - self.truth), size=(AUDITS, sessions, 1))
        shape = (AUDITS, sessions, ITEMS)
        self.people = rng.random(shape, dtype=np.float32) < quality
        wrong = np.where(self.people, error * 0.75, error * 1.25)
        self.judge = self.people ^ (rng.random(shape, dtype=np.float32) < wrong)
        scores = self.judge.mean(axis=-1)
        self.row = Stratum(scores, scores[:, : self.n], self.people[:, : self.n].mean(axis=-1))

    def coverage(self, found: Corrected) -> float:
        return float(np.mean((found.low <= self.truth) & (self.truth <= found.high)))


@pytest.fixture(scope="module")
def simulations() -> dict[tuple[str, float], dict[str, tuple[float, float]]]:
    """Coverage and mean width, by model, error rate and estimator."""
    found = {}
    for model in MODELS:
        for error in ERRORS:
            run = Simulation(model, error)
            estimates = {
                "corrected": prediction_powered([run.row]),
                "raw": raw_mean(run.row.judge),
                "people": people_mean(run.row),
            }
            found[model, error] = {
                name: (run.coverage(each), float(np.mean(each.width))) for name, each in estimates.items()
            }
    return found


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("model", MODELS)
def test_intervals_cover_the_truth_in_95_percent_of_audits(simulations, model: str, error: float):
    coverage, _ = simulations[model, error]["corrected"]

    assert 0.93 <= coverage <= 0.97


def test_raw_intervals_miss_the_truth_once_the_judge_errs(simulations):
    assert simulations["strong", 0.15]["raw"][0] < 0.1


def test_correcting_gives_narrower_intervals_than_the_audit_alone(simulations):
    gain = {key: found["corrected"][1] / found["people"][1] for key, found in simulations.items()}

    assert max(gain.values()) < 0.8
    assert max(gain[model, 0.03] for model in MODELS) < 0.65
