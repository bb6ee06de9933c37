"""What a run outside the studio may still spend, with several sessions at once."""

from __future__ import annotations

import threading
from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.engine.budgets import BudgetSpentError, Purse, Spent


def purse(cost: float, session: float = 0.0) -> Purse:
    return Purse({"pilot": {"cost": cost}, "session": {"cost": session}})


def waits(of: Purse, holder: str, worst: int) -> threading.Thread:
    """Whoever asks beside this thread, which has to wait."""
    thread = threading.Thread(target=of.check, args=(holder, Spent(), Decimal(worst)), daemon=True)
    thread.start()
    thread.join(0.2)
    assert thread.is_alive()
    return thread


@pytest.mark.parametrize("over", ["spent", "left"])
def test_a_call_waits_for_what_another_session_keeps_free_until_that_is_spent_or_left(over: str):
    shared = purse(3)
    shared.check("a", Spent(), Decimal(2))
    other = waits(shared, "b", 2)
    if over == "spent":
        shared.spend("a", Spent(cost=Decimal(1)))
    else:
        shared.leave("a")
    other.join(10)
    assert not other.is_alive()


def test_what_is_kept_free_for_a_call_stays_so_while_it_is_sent_again():
    shared = purse(3)
    shared.check("a", Spent(), Decimal(2))
    shared.check("a", Spent(), None)
    waits(shared, "b", 2)


def test_a_call_that_may_cost_more_than_is_left_is_refused_whoever_else_waits():
    shared = purse(3, session=1.5)
    shared.check("a", Spent(), Decimal(1))
    with pytest.raises(BudgetSpentError, match=r"session’s budget of \$1\.5, \$0\.5, does not cover"):
        shared.check("b", Spent(cost=Decimal(1)), Decimal("0.6"))
    shared.spend("a", Spent(cost=Decimal(2)))
    with pytest.raises(BudgetSpentError, match=r"run’s budget of \$3, \$1, does not cover"):
        shared.check("b", Spent(), Decimal("1.1"))


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 40), min_size=1, max_size=5), min_size=1, max_size=6),
    st.integers(1, 100),
    st.integers(0, 100),
)
def test_sessions_beside_one_another_never_spend_more_than_the_run_has(
    sessions: list[list[int]], limit: int, percent: int
):
    shared, share = purse(limit), Decimal(percent) / 100
    refused = Counter[int]()

    def play(number: int, worsts: list[int]) -> None:
        try:
            for worst in worsts:
                shared.check(number, Spent(), Decimal(worst))
                shared.spend(number, Spent(cost=worst * share))
        except BudgetSpentError:
            refused[number] += 1
        finally:
            shared.leave(number)

    threads = [threading.Thread(target=play, args=each) for each in enumerate(sessions)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    assert shared.used.cost <= limit
    assert refused or shared.used.cost == sum(worst * share for each in sessions for worst in each)
