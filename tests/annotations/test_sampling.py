from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations.sampling import AuditableDecision, allocate, draw_sample

populations = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=120).map(
    lambda strata: [AuditableDecision(f"verdict:{number}", stratum) for number, stratum in enumerate(strata)]
)


def test_strata_are_proportional_but_at_least_one():
    assert allocate({"common": 90, "some": 9, "rare": 1}, 10) == {"common": 8, "some": 1, "rare": 1}


def test_oversized_sample_is_the_population():
    assert allocate({"a": 2, "b": 1}, 10) == {"a": 2, "b": 1}


def test_smallest_strata_are_left_out_of_a_small_sample():
    assert allocate({"a": 5, "b": 4, "c": 3}, 2) == {"a": 1, "b": 1, "c": 0}


def test_empty_sample_is_rejected():
    with pytest.raises(ValueError, match="at least one"):
        draw_sample([], 0, seed=1)


def test_duplicate_keys_are_rejected():
    with pytest.raises(ValueError, match="same key"):
        draw_sample([AuditableDecision("x", "a"), AuditableDecision("x", "a")], 2, seed=1)


def test_another_seed_draws_another_sample():
    candidates = [AuditableDecision(str(number), "a") for number in range(100)]

    assert draw_sample(candidates, 10, seed=1) != draw_sample(candidates, 10, seed=2)


@settings(max_examples=60)
@given(populations, st.integers(1, 60), st.integers(0, 5), st.randoms(use_true_random=False))
def test_sample_depends_on_the_seed_not_the_order(candidates, size, seed, random):
    shuffled = list(candidates)
    random.shuffle(shuffled)

    assert draw_sample(candidates, size, seed) == draw_sample(shuffled, size, seed)


@settings(max_examples=60)
@given(populations, st.integers(1, 150), st.integers(0, 5))
def test_sample_has_the_requested_size_and_weights_add_up(candidates, size, seed):
    drawn = draw_sample(candidates, size, seed)
    population = Counter(candidate.stratum for candidate in candidates)

    assert len(drawn) == len({item.key for item in drawn}) == min(size, len(candidates))
    assert {(item.key, item.stratum) for item in drawn} <= {(item.key, item.stratum) for item in candidates}
    for stratum in {item.stratum for item in drawn}:
        assert sum(item.weight for item in drawn if item.stratum == stratum) == pytest.approx(population[stratum])
    if size >= len(population):
        assert {item.stratum for item in drawn} == set(population)
