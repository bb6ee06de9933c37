"""What pure modules remember is bounded in bytes."""

import gc
import importlib
import inspect
import pkgutil
import random
import tracemalloc
from functools import _lru_cache_wrapper

import annotations.agreement
import evaluation.metrics
import evaluation.protocol
import studio.domain
from studio.domain.bounded_cache import CACHES
from studio.domain.checks import find_problems
from studio.domain.episode import EpisodeSpec
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, HiddenIntent, TaskSpec

ALL_CACHES = 150_000_000
"""Bytes a process may remember about texts."""
REQUEST = 39_000
"""Characters."""


def modules_below(package):
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if ".migrations" not in found.name and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def test_no_pure_function_has_a_cache_bounded_by_count():
    packages = [studio.domain, evaluation.protocol, evaluation.metrics, annotations.agreement]
    modules = [module for package in packages if hasattr(package, "__path__") for module in modules_below(package)]

    unbounded = {
        f"{module.__name__}.{name}"
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, _lru_cache_wrapper) and inspect.signature(value).parameters
        if value.__module__ == module.__name__  # not what it imports, such as urlsplit
    }

    assert unbounded == set()


def test_all_caches_together_have_a_stated_bound():
    list(modules_below(studio.domain))

    assert len(CACHES) > 30
    assert sum(cache.max_bytes for cache in CACHES.values()) <= ALL_CACHES


WORDS = "letter price budget client meeting team note date file table list email tone draft page chart source".split()


def request(seed: int) -> str:
    dice = random.Random(seed)
    sentences = (" ".join(dice.choices(WORDS, k=12)).capitalize() + "." for _ in range(REQUEST // 50))
    return " ".join(sentences)[:REQUEST]


def check(seed: int) -> None:
    task = TaskSpec(
        task_id="t",
        title="A letter",
        initial_request=request(seed),
        intents=tuple(HiddenIntent(uid=str(n), content=f"Wants number {n} in the letter {seed}.") for n in range(3)),
        checklist=tuple(ChecklistItem(uid=f"c{n}", criterion=f"The letter {seed} has number {n}.") for n in range(3)),
    )
    find_problems(EpisodeSpec(episode_id="e", persona=PersonaSpec(user_id="p"), tasks=(task,)))


def test_checks_of_ever_new_long_requests_keep_memory_within_the_caches_bound(monkeypatch):
    for cache in CACHES.values():  # a twentieth, so that few checks fill them
        cache.clear()
        monkeypatch.setattr(cache, "max_bytes", cache.max_bytes // 20)
    check(0)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for seed in range(1, 4):
            check(seed)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        for cache in CACHES.values():
            cache.clear()

    assert grown <= ALL_CACHES // 20
