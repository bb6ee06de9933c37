"""Saves, imports and releases at the same moment, in transactions of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from evaluation.releases.cut import ReleaseBlockedError, ReleaseOptions, cut_release
from studio.drafts.load import load_task
from studio.imports.importer import import_files
from studio.models import Benchmark, Persona, Task
from studio.models.transactions import atomic_with_retry
from studio.review import bulk
from studio.tasks.save import save_task
from tests.drafts import benchmark_files
from tests.factories import BenchmarkFactory, UserFactory, a_persona, a_task

ROOT = Path(__file__).resolve().parents[2]
LONG = 20
"""Seconds after which a wait means that the test is wrong."""


@pytest.mark.slow
def test_locks_leave_foreign_key_checks_of_other_transactions_alone() -> None:
    strong = []
    for app in ("studio", "annotations", "evaluation"):
        for path in (ROOT / app).rglob("*.py"):
            calls = [
                node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
            ]
            strong += [
                f"{path.relative_to(ROOT)}:{call.lineno}"
                for call in calls
                if getattr(call.func, "attr", "") == "select_for_update"
                and "no_key" not in {keyword.arg for keyword in call.keywords}
            ]
    assert strong == []


@pytest.mark.slow
def test_transactions_that_lock_rows_are_repeated_after_a_deadlock() -> None:
    never_repeated = []
    for app in ("studio", "annotations", "evaluation"):
        for path in (ROOT / app).rglob("*.py"):
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if not isinstance(function, ast.FunctionDef):
                    continue
                once = any(ast.unparse(decorator) == "transaction.atomic" for decorator in function.decorator_list)
                locks = any(
                    isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "select_for_update"
                    for node in ast.walk(function)
                )
                if once and locks:
                    never_repeated.append(f"{path.relative_to(ROOT)}:{function.name}")
    assert never_repeated == []


@pytest.fixture
def task(transactional_db: None) -> Task:
    return a_task(a_persona(BenchmarkFactory()))


def preview_import(benchmark: Benchmark, files: dict[str, bytes]) -> None:
    assert import_files(benchmark, files, by=None, dry_run=True).ok


def try_release(benchmark: Benchmark, files: dict[str, bytes]) -> None:
    with pytest.raises(ReleaseBlockedError):
        cut_release(benchmark, ReleaseOptions(version="1.0"), by=None)


@pytest.mark.parametrize("work", [preview_import, try_release])
def test_benchmark_can_be_locked_while_an_author_saves(
    task: Task, work: Callable[[Benchmark, dict[str, bytes]], None]
) -> None:
    benchmark = task.persona.benchmark
    files, spec = benchmark_files(benchmark), load_task(task)
    task_locked, benchmark_locked = Event(), Event()

    def save() -> int:
        with own_connection(), after_lock_of("studio_task", task_locked, wait_for=benchmark_locked):
            return save_task(task.pk, spec.model_copy(update={"title": "Rolls"}), by=None).number

    def lock_benchmark() -> None:
        assert task_locked.wait(LONG)
        with own_connection(), after_lock_of("studio_benchmark", benchmark_locked):
            work(benchmark, files)

    saved, worked = together(save, lock_benchmark)

    assert (saved.result(), worked.result()) == (2, None)


def test_bulk_change_waits_for_nobody_in_another_benchmark(task: Task) -> None:
    other, author = a_persona(BenchmarkFactory()), UserFactory()
    locked, changed = Event(), Event()

    def hold() -> None:
        with own_connection(), transaction.atomic():
            Persona.objects.select_for_update(no_key=True).get(pk=other.pk)
            locked.set()
            assert changed.wait(LONG)

    def change() -> int:
        assert locked.wait(LONG)
        try:
            with own_connection():
                return bulk.apply(task.persona.benchmark, {task.pk: None}, "split", "held_out", by=author)
        finally:
            changed.set()

    held, worked = together(hold, change)

    assert (held.result(), worked.result()) == (None, 1)


def test_deadlocked_transaction_runs_again(transactional_db: None) -> None:
    first, second = (BenchmarkFactory(), BenchmarkFactory())
    both_hold_one, runs = Barrier(2), []

    @atomic_with_retry
    def lock_both(own: Benchmark, other: Benchmark) -> str:
        runs.append(own)
        Benchmark.objects.select_for_update(no_key=True).get(pk=own.pk)
        if runs.count(own) == 1:
            both_hold_one.wait(LONG)
        Benchmark.objects.select_for_update(no_key=True).get(pk=other.pk)
        return own.slug

    def lock(own: Benchmark, other: Benchmark) -> str:
        with own_connection():
            return lock_both(own, other)

    one, two = together(lambda: lock(first, second), lambda: lock(second, first))

    assert (one.result(), two.result()) == (first.slug, second.slug)
    assert len(runs) >= 3


@pytest.mark.django_db
def test_part_of_a_transaction_is_not_repeated_alone() -> None:
    runs = []

    @atomic_with_retry
    def fail() -> None:
        runs.append(1)
        with connection.cursor() as cursor:
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$")

    with pytest.raises(OperationalError):
        fail()

    assert runs == [1]


def together(*functions: Callable[[], Any]) -> list[Future[Any]]:
    with ThreadPoolExecutor(len(functions)) as pool:
        return [pool.submit(function) for function in functions]


@contextmanager
def own_connection() -> Iterator[None]:
    try:
        yield
    finally:
        connection.close()


@contextmanager
def after_lock_of(table: str, reached: Event, *, wait_for: Event | None = None) -> Iterator[None]:
    """Signal the first time this thread has locked rows of ``table``, and stop there for the other's signal."""

    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if f'FROM "{table}"' in sql and "FOR " in sql and "UPDATE" in sql and not reached.is_set():
            reached.set()
            assert wait_for is None or wait_for.wait(LONG)
        return result

    with connection.execute_wrapper(watch):
        yield
