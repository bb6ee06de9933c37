from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from random import Random

from studio.domain.bounded_cache import ENTRY_BYTES, BoundedCache


def cache_for(entries: int, value_bytes: int = 1_000) -> BoundedCache[int, int]:
    return BoundedCache(entries * (ENTRY_BYTES + sys.getsizeof(1) + value_bytes), size_of=lambda value: value_bytes)


def test_cached_values_come_back_and_unknown_keys_are_absent():
    cache: BoundedCache[str, str | None] = BoundedCache(10_000)
    cache.put_many({"a": "one", "b": None})
    assert cache.get_many(["a", "b", "c"]) == {"a": "one", "b": None}


def test_least_recently_used_entry_is_evicted_first():
    cache = cache_for(3)
    cache.put_many({1: 1, 2: 2, 3: 3})
    cache.get_many([1])
    cache.put_many({4: 4})
    assert cache.get_many([1, 2, 3, 4]) == {1: 1, 3: 3, 4: 4}


def test_entries_never_take_more_than_the_limit():
    cache: BoundedCache[int, str] = BoundedCache(20_000)
    random = Random(7)
    for key in range(500):
        cache.put_many({key % 60: "x" * random.randrange(4_000)})
        assert cache.size <= cache.max_bytes
    assert len(cache) > 1


def test_value_larger_than_the_whole_cache_is_not_stored():
    cache: BoundedCache[str, str] = BoundedCache(5_000)
    cache.put_many({"small": "x"})
    cache.put_many({"large": "x" * 6_000})
    assert cache.get_many(["small", "large"]) == {"small": "x"}


def test_replacing_a_value_counts_only_the_new_size():
    cache: BoundedCache[str, str] = BoundedCache(10_000)
    cache.put_many({"a": "x" * 5_000})
    cache.put_many({"a": "x"})
    alone: BoundedCache[str, str] = BoundedCache(10_000)
    alone.put_many({"a": "x"})
    assert cache.size == alone.size and cache.get_many(["a"]) == {"a": "x"}


def test_cleared_cache_is_empty():
    cache = cache_for(3)
    cache.put_many({1: 1})
    cache.clear()
    assert (len(cache), cache.size, cache.get_many([1])) == (0, 0, {})


def test_threads_leave_sizes_and_entries_consistent():
    cache = cache_for(20)

    def churn(seed: int) -> bool:
        random = Random(seed)
        right = True
        for _ in range(2_000):
            key = random.randint(1, 100)
            cache.put_many({key: key})
            right &= all(key == value for key, value in cache.get_many(range(1, 101)).items())
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(churn, range(8)))
    assert cache.size == len(cache) * (cache.max_bytes // 20) <= cache.max_bytes
