"""An endpoint's limits hold over all workers, and are shared fairly between groups."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from evaluation.llm import Endpoint, EndpointLimits, ModelClient
from evaluation.llm.slots import HeldError, Lane, LocalSlots, Slots
from evaluation.shared_slots import LEASE, SharedSlots
from studio.local import shared_server
from tests.evaluation.conftest import LOCAL
from tests.evaluation.stub_model import StubModel
from tests.local.processes import wait_until

LIMIT = 4


def valkey() -> redis.Redis:
    path = shared_server.acquire("valkey", throwaway=True).removeprefix("redis+socket://").partition("?")[0]
    # Tests of workers flush the first database, their broker's.
    return redis.Redis(unix_socket_path=path.replace("%2F", "/"), db=1)


@pytest.fixture(params=["of the process", "shared"])
def workers(request: pytest.FixtureRequest) -> Iterator[tuple[Slots, Slots]]:
    """Two of them."""
    if request.param == "shared":
        yield SharedSlots(valkey()), SharedSlots(valkey())
    else:
        slots = LocalSlots()
        yield slots, slots


@pytest.fixture
def place() -> str:
    return uuid.uuid4().hex


def test_no_more_than_the_limit_have_a_slot_and_a_slot_left_is_free(workers: tuple[Slots, Slots], place: str):
    first, second = workers
    taken = [first.take(place, 2, "a", "", 60)[0], second.take(place, 2, "b", "", 60)[0]]

    refused = first.take(place, 2, "c", "", 60)
    second.leave(place, "b", "")

    assert taken == [True, True] and not refused[0] and 0 < refused[1] <= 1
    assert first.take(place, 2, "c", "", 60)[0]


def test_slot_of_a_worker_that_died_runs_out_and_one_held_anew_does_not(workers: tuple[Slots, Slots], place: str):
    first, second = workers
    first.take(place, 2, "dead", "", 0.1)
    first.take(place, 2, "alive", "", 0.1)
    first.take(place, 2, "alive", "", 60)
    until = time.monotonic() + 10

    while not second.take(place, 2, "next", "", 60)[0]:
        assert time.monotonic() < until

    assert not second.take(place, 2, "another", "", 60)[0]


HOLDS = """
import sys, threading, redis
from evaluation.shared_slots import SharedSlots
slots = SharedSlots(redis.Redis(unix_socket_path=sys.argv[1], db=1))
print(slots.take(sys.argv[2], 1, "call", "", 600)[0], flush=True)
threading.Event().wait()
"""


@pytest.mark.slow
def test_slot_of_a_worker_is_held_while_it_lives_and_free_within_seconds_of_its_kill(place: str):
    here, socket = SharedSlots(valkey()), valkey().connection_pool.connection_kwargs["path"]
    with subprocess.Popen([sys.executable, "-c", HOLDS, socket, place], stdout=subprocess.PIPE, text=True) as worker:
        try:
            assert worker.stdout is not None and worker.stdout.readline() == "True\n"
            renewed = time.monotonic() + 1.5 * LEASE
            while time.monotonic() < renewed:
                assert not here.take(place, 1, "next", "", 600)[0]
                time.sleep(0.1)
        finally:
            worker.kill()
    wait_until(lambda: here.take(place, 1, "next", "", 600)[0], "the slot", seconds=10 * LEASE)


def test_group_with_fewest_under_way_goes_next(workers: tuple[Slots, Slots], place: str):
    first, second = workers
    for number in range(LIMIT):
        first.take(place, LIMIT, f"large-{number}", "large", 60)
    first.take(place, LIMIT, "large-waits", "large", 60)
    second.take(place, LIMIT, "small-waits", "small", 60)
    first.leave(place, "large-0", "large")

    assert not first.take(place, LIMIT, "large-waits", "large", 60)[0]
    assert second.take(place, LIMIT, "small-waits", "small", 60)[0]


def test_newcomer_does_not_overtake_who_waits_in_its_group(workers: tuple[Slots, Slots], place: str):
    first, second = workers
    first.take(place, 1, "a", "", 60)
    first.take(place, 1, "waits", "", 60)
    first.leave(place, "a", "")

    assert not second.take(place, 1, "new", "", 60)[0]
    assert first.take(place, 1, "waits", "", 60)[0]


def test_calls_under_way_are_counted_over_all_workers(workers: tuple[Slots, Slots], place: str):
    first, second = workers
    for who, group in (("1", "a b"), ("2", "a b"), ("3", "c")):
        first.take(place, 9, who, group, 60)
    second.take(place, 9, "4", "a b", 60)

    assert [second.in_flight(place, group) for group in ("a b", "c", "d")] == [3, 1, 0]


def test_endpoint_that_wants_rest_gets_it_from_all_workers(workers: tuple[Slots, Slots], place: str):
    first, second = workers
    first.hold(place, 300)

    admitted, pause = second.take(place, 9, "a", "", 60)

    assert not admitted and 290 < pause <= 300
    with pytest.raises(HeldError), Lane(second).admitted(place, 9, 60, lambda: None):
        pass


class WatchedSlots:
    """Tells when so many calls of the small pilot have asked."""

    def __init__(self, slots: Slots, calls: int) -> None:
        self._slots, self._calls = slots, calls
        self._asked: set[str] = set()
        self.small_asked = threading.Event()
        self.leave, self.hold, self.in_flight = slots.leave, slots.hold, slots.in_flight

    def take(self, place: str, limit: int, who: str, group: str, seconds: float) -> tuple[bool, float]:
        answer = self._slots.take(place, limit, who, group, seconds)
        if group == "small":
            self._asked.add(who)
            if len(self._asked) == self._calls:
                self.small_asked.set()
        return answer


@pytest.mark.parametrize("shared", [False, True])
def test_small_pilot_is_done_long_before_a_large_one(shared: bool, place: str):
    slots = WatchedSlots(SharedSlots(valkey()) if shared else LocalSlots(), calls=4)
    order: list[str] = []
    most, under_way, lock = [0], [0], threading.Lock()
    first, round_ = threading.Event(), threading.Barrier(LIMIT, timeout=60)

    def call(group: str) -> None:
        with Lane(slots, group).admitted(place, LIMIT, 60, lambda: None):
            with lock:
                order.append(group)
                under_way[0] += 1
                most[0] = max(most[0], under_way[0])
                if under_way[0] == LIMIT:
                    first.set()
            assert slots.small_asked.wait(60)
            round_.wait()  # nobody leaves before as many as may are under way
            with lock:
                under_way[0] -= 1

    with ThreadPoolExecutor(44) as pool:
        large = [pool.submit(call, "large") for _ in range(40)]
        assert first.wait(60)
        small = [pool.submit(call, "small") for _ in range(4)]
        for done in (*large, *small):
            done.result()

    assert most[0] == LIMIT and len(order) == 44
    assert max(index for index, group in enumerate(order) if group == "small") < 20


def test_call_cancelled_while_waiting_is_not_sent_and_leaves_its_slot(place: str):
    slots = LocalSlots()
    slots.take(place, 1, "a", "", 60)
    asked = threading.Event()

    class Watched(LocalSlots):
        def take(self, *given: object) -> tuple[bool, float]:
            taken = slots.take(*given)  # type: ignore[arg-type]
            asked.set()
            return taken

        leave = slots.leave  # type: ignore[assignment]

    def cancelled() -> None:
        raise LookupError("cancelled")

    def call() -> None:
        with pytest.raises(LookupError), Lane(Watched()).admitted(place, 1, 60, cancelled):
            raise AssertionError

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(call)
        asked.wait(10)
        slots.leave(place, "a", "")
        done.result(10)

    assert slots.in_flight(place, "") == 0


def test_worker_without_its_broker_applies_the_limit_alone(place: str):
    away = SharedSlots(redis.Redis(unix_socket_path="/nonexistent"))

    assert [away.take(place, 2, who, "", 60)[0] for who in "abc"] == [True, True, False]
    away.leave(place, "a", "")
    assert away.take(place, 2, "c", "", 60)[0]


def test_calls_of_a_client_keep_to_the_limit(stub: StubModel):
    endpoint = Endpoint("m", stub.base_url, uuid.uuid4().hex, limits=EndpointLimits(10, 2), policy=LOCAL)
    most, under_way, lock = [0], [0], threading.Lock()

    def agent(body: dict) -> str:
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.02)
        with lock:
            under_way[0] -= 1
        return "Done."

    stub.agent = agent

    def ask(_: int) -> object:
        return ModelClient(endpoint).complete([{"role": "user", "content": "?"}])

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(ask, range(8)))) == 8

    assert most[0] == 2


class Full:
    """Slots of which none is free until ``open`` is set."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.open = threading.Event()

    def take(self, place: str, limit: int, who: str, group: str, seconds: float) -> tuple[bool, float]:
        self.asked[who] += 1
        return self.open.is_set(), 0.001

    def leave(self, place: str, who: str, group: str) -> None: ...

    def hold(self, place: str, seconds: float) -> None: ...

    def in_flight(self, place: str, group: str) -> int:
        return 0


def test_of_many_calls_of_a_group_that_wait_in_a_process_one_asks_again(place: str):
    full = Full()

    def call(_: int) -> None:
        with Lane(full, "pilot").admitted(place, 1, 60, lambda: None):
            pass

    with ThreadPoolExecutor(20) as pool:
        calls = pool.map(call, range(20))
        while len(full.asked) < 20 or max(full.asked.values()) < 10:
            time.sleep(0.001)
        asked_again = [who for who, times in full.asked.items() if times > 1]
        full.open.set()
        list(calls)

    assert len(asked_again) == 1
