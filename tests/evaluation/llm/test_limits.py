"""An endpoint's limits hold over all workers, and are divided fairly."""

from __future__ import annotations

import threading
import time
import uuid

import pytest
import redis

from evaluation.llm import Endpoint, EndpointLimits, ModelClient, admission
from evaluation.llm.admission import HeldError, Queue
from evaluation.llm.rates import Rates, read_rates
from evaluation.llm.shares import Share, SharedLimits
from studio.local import shared_server
from tests.evaluation.stub_model import StubModel


@pytest.fixture
def valkey() -> redis.Redis:
    path = shared_server.acquire("valkey", throwaway=True).removeprefix("redis+socket://").partition("?")[0]
    return redis.Redis(unix_socket_path=path.replace("%2F", "/"))


def workers(valkey: redis.Redis, number: int) -> tuple[str, list[SharedLimits]]:
    return uuid.uuid4().hex, [SharedLimits(valkey) for _ in range(number)]


def test_limit_is_divided_between_workers_and_never_exceeded(valkey: redis.Redis):
    key, (first, second) = workers(valkey, 2)

    alone = first.agree(key, 8, {"a": 20}, {}, 0, Rates())
    newcomer = second.agree(key, 8, {"b": 20}, {}, 0, Rates())
    shrunk = first.agree(key, 8, {"a": 20}, {"a": 8}, 0, Rates())
    after_some_ended = first.agree(key, 8, {"a": 20}, {"a": 3}, 0, Rates())
    grown = second.agree(key, 8, {"b": 20}, {}, 0, Rates())

    assert (alone.slots, newcomer.slots, shrunk.slots) == (8, 0, 8)
    assert (after_some_ended.slots, grown.slots) == (4, 4)


def test_pilot_of_five_gets_what_it_wants_beside_one_of_thousands(valkey: redis.Redis):
    key, (first, second) = workers(valkey, 2)
    first.agree(key, 64, {"large": 200}, {}, 0, Rates())
    second.agree(key, 64, {"large": 200, "small": 5}, {}, 0, Rates())

    share = first.agree(key, 64, {"large": 200}, {"a": 20}, 0, Rates())
    other = second.agree(key, 64, {"large": 200, "small": 5}, {}, 0, Rates())

    assert share.slots in (29, 30)
    assert share.slots + other.slots == 64


def test_more_workers_than_slots_take_turns(valkey: redis.Redis):
    key, three = workers(valkey, 3)
    had = set()
    for _ in range(4):
        for number, worker in enumerate(three):
            if worker.agree(key, 1, {f"p{number}": 1}, {}, 0, Rates()).slots:
                had.add(number)
            time.sleep(0.002)

    assert had == {0, 1, 2}


def test_worker_that_falls_silent_holds_nothing(valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch):
    key, (first, second) = workers(valkey, 2)
    first.agree(key, 4, {"a": 4}, {"a": 4}, 0, Rates())
    held = second.agree(key, 4, {"b": 4}, {}, 0, Rates())
    later = time.time() + 60
    monkeypatch.setattr("evaluation.llm.shares.time.time", lambda: later)

    assert (held.slots, second.agree(key, 4, {"b": 4}, {}, 0, Rates()).slots) == (0, 4)


def test_calls_under_way_are_counted_over_all_workers(valkey: redis.Redis):
    key, (first, second) = workers(valkey, 2)
    first.agree(key, 8, {"a": 3, "b": 1}, {"a": 3, "b": 1}, 4, Rates())
    second.agree(key, 8, {"a": 2}, {"a": 2}, 2, Rates())

    assert (first.in_flight(key, "a"), first.in_flight(key, "b"), first.in_flight(key, "c")) == (5, 1, 0)


def test_what_one_worker_learns_of_rates_holds_for_all(valkey: redis.Redis):
    key, (first, second) = workers(valkey, 2)
    now = time.time()
    first.agree(key, 8, {"a": 1}, {}, 0, Rates(hold_until=now + 30))
    held = second.agree(key, 8, {"b": 1}, {}, 0, Rates())
    other = uuid.uuid4().hex
    first.agree(other, 8, {"a": 1}, {}, 0, Rates(requests=10, requests_at=now + 30))
    spent = second.agree(other, 8, {"b": 4}, {}, 10, Rates())

    assert held.hold_until == pytest.approx(now + 30, abs=0.01) and not held.open_at(now)
    assert not spent.open_at(now) and spent.open_at(now + 31) is False  # no credit until the next agreement
    assert second.agree(other, 8, {"b": 4}, {}, 0, Rates()).hold_until == pytest.approx(now + 30, abs=0.01)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (200, {}, Rates()),
        (429, {"retry-after": "7"}, Rates(hold_until=107)),
        (429, {}, Rates(hold_until=101)),
        (429, {"retry-after-ms": "250"}, Rates(hold_until=100.25)),
        (503, {}, Rates()),
        (
            200,
            {"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "1m2s"},
            Rates(requests=3, requests_at=162),
        ),
        (
            200,
            {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"},
            Rates(tokens=0, tokens_at=100.12),
        ),
        (
            200,
            {
                "anthropic-ratelimit-requests-remaining": "9",
                "anthropic-ratelimit-requests-reset": "1970-01-01T00:02:00Z",
            },
            Rates(requests=9, requests_at=120),
        ),
        (200, {"x-ratelimit-remaining-requests": "many"}, Rates()),
    ],
)
def test_rates_are_read_from_answers(status: int, headers: dict[str, str], expected: Rates):
    assert read_rates(status, headers, now=100.0) == expected


def test_calls_wait_in_line_by_group_and_the_group_with_fewest_goes_next():
    queue = Queue(uuid.uuid4().hex, 1, None)
    order: list[str] = []
    release = threading.Event()
    held = threading.Event()

    def call(group: str) -> None:
        with queue.admitted(group, lambda: None):
            order.append(group)
            held.set()
            release.wait(5)

    threads = [threading.Thread(target=call, args=("large",)) for _ in range(4)]
    threads[0].start()
    held.wait(5)
    for thread in threads[1:]:
        thread.start()
    while sum(map(len, queue._waiting.values())) < 3:
        time.sleep(0.002)
    small = threading.Thread(target=call, args=("small",))
    small.start()
    while sum(map(len, queue._waiting.values())) < 4:
        time.sleep(0.002)
    release.set()
    for thread in [*threads, small]:
        thread.join(5)

    assert order.index("small") <= 2 and len(order) == 5


def test_call_cancelled_while_waiting_is_not_sent_and_releases_its_slot():
    queue = Queue(uuid.uuid4().hex, 1, None)
    queue._share = Share(0)
    failed: list[BaseException] = []

    def cancelled() -> None:
        raise LookupError("cancelled")

    def call() -> None:
        try:
            with queue.admitted("a", cancelled):
                raise AssertionError
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    while not queue._waiting:
        time.sleep(0.002)
    queue._share = Share(1)
    queue.sync()
    thread.join(5)

    assert [type(error) for error in failed] == [LookupError]
    with queue.admitted("b", lambda: None):
        pass


def test_endpoint_that_wants_minutes_of_rest_is_not_waited_for():
    queue = Queue(uuid.uuid4().hex, 1, None)
    queue._share = Share(1, hold_until=time.time() + 300)

    with pytest.raises(HeldError), queue.admitted("a", lambda: None):
        pass


def test_worker_without_its_broker_applies_the_limit_alone():
    class Away:
        asked = 0

        def agree(self, *_: object) -> Share:
            self.asked += 1
            raise redis.ConnectionError("gone")

    away = Away()
    queue = Queue(uuid.uuid4().hex, 2, away)  # type: ignore[arg-type]

    with queue.admitted("a", lambda: None), queue.admitted("a", lambda: None):
        queue.sync()
        assert not queue._has_room()
    queue.sync()

    assert queue._has_room() and away.asked <= 2


def test_workers_without_a_broker_apply_the_limit_each(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(admission, "shared_limits", lambda: None)
    endpoint = Endpoint("m", stub.base_url, uuid.uuid4().hex, limits=EndpointLimits(10, 2))
    most: list[int] = []
    lock, under_way = threading.Lock(), [0]

    def agent(body: dict) -> str:
        with lock:
            under_way[0] += 1
            most.append(under_way[0])
        time.sleep(0.02)
        with lock:
            under_way[0] -= 1
        return "Done."

    stub.agent = agent
    threads = [
        threading.Thread(target=lambda: ModelClient(endpoint).complete([{"role": "user", "content": "?"}]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (len(most), max(most)) == (8, 2)
