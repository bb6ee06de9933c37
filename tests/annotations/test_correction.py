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
)

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
