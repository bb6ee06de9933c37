"""What threads write at the same moment is written together, and the failure of one is not that of the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from decimal import Decimal

import pytest

from evaluation.models import ModelCall, ModelEndpoint, Session
from evaluation.models.counted_calls import CountedCall, store_calls
from evaluation.models.together import NotStoredTogetherError, Together
from tests.evaluation.builders import benchmark_of, pilot_of, task


def start(together: Together[int, int], number: int, outcomes: dict[int, object]) -> threading.Thread:
    def run() -> None:
        try:
            outcomes[number] = together.store(number)
        except Exception as error:
            outcomes[number] = type(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("bad", [False, True])
def test_those_who_come_while_something_is_written_are_written_next_in_one_go(bad: bool):
    written: list[list[int]] = []
    first_is_written = threading.Event()

    def write(numbers: Sequence[int]) -> list[int]:
        written.append(list(numbers))
        if numbers == [0]:
            assert first_is_written.wait(60)
        elif bad:
            raise ValueError
        return [-number for number in numbers]

    together: Together[int, int] = Together(write, lambda number: number % 10)
    outcomes: dict[int, object] = {}
    threads = [start(together, 0, outcomes)]
    while not written:
        time.sleep(0.001)
    for waiting, number in enumerate((1, 2, 3, 12), start=1):
        threads.append(start(together, number, outcomes))
        while len(together._waiting) < waiting:
            time.sleep(0.001)
    first_is_written.set()
    for thread in threads:
        thread.join(60)

    assert written == [[0], [1, 2, 3], [12]]  # 2 and 12 have the same name
    others = dict.fromkeys((1, 2, 3), NotStoredTogetherError) | {12: ValueError}
    assert outcomes == {0: 0, **(others if bad else {1: -1, 2: -2, 3: -3, 12: -12})}


@pytest.mark.django_db
def test_calls_of_several_sessions_are_stored_and_counted_in_one_statement(django_assert_num_queries):
    pilot_of(benchmark_of(task("a")), runs=2)
    one, other = Session.objects.order_by("pk")
    model = ModelEndpoint.objects.order_by("pk")[0]

    def call(session: Session, digest: str, *, again: bool = False) -> CountedCall:
        row = ModelCall(
            session=session,
            purpose="agent",
            turn=1,
            endpoint=model,
            request_hash=digest * 32,
            content=b"\x00\xff",
            answered=True,
            cost=Decimal("0.25"),
        )
        return CountedCall(row, "agent", 5, again)

    with django_assert_num_queries(1):
        stored = store_calls([call(other, "b1"), call(one, "a1")])
    repeated = store_calls([call(one, "a1", again=True), call(other, "b1")])

    assert [each.key for each in stored] == list(ModelCall.objects.order_by("-session").values_list("pk", flat=True))
    assert bytes(ModelCall.objects.get(session=one).content) == b"\x00\xff"
    assert [each.spent and each.spent.calls for each in stored] == [1, 1]
    assert [(each.key, each.spent and each.spent.calls) for each in repeated] == [(None, None), (None, 2)]
    assert list(Session.objects.order_by("pk").values_list("calls", "cost", "tokens")) == [
        (1, Decimal("0.25"), {"agent": 5}),
        (2, Decimal("0.50"), {"agent": 10}),
    ]
