"""Queries of bulk changes."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studio.imports.importer import import_files
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Event, Notification, Role, Task, TaskState
from studio.review import bulk
from tests.bench.import_2000 import files
from tests.factories import BenchmarkFactory, member, rewrite
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
PERSONAS, TASKS = 6, 120


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory(taxonomy=ensure_taxonomy())
    owner, reviewer = member(benchmark, Role.OWNER), member(benchmark, Role.REVIEWER)
    import_files(benchmark, files(personas=PERSONAS, tasks=TASKS // PERSONAS), by=owner)
    connection.cursor().execute("ANALYZE")  # as the server does by itself where nobody waits for it
    return benchmark, owner, reviewer


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def change(benchmark, keys, does, value, by) -> int:
    """The number of queries it takes."""
    with CaptureQueriesContext(connection) as caught:
        assert bulk.apply(benchmark, dict.fromkeys(keys), does, value, by=by) == len(keys)
    return len(caught)


@pytest.mark.slow
def test_number_of_queries_of_bulk_transitions_is_constant(project):
    benchmark, owner, reviewer = project
    rewrite(Task.objects.all(), depends_on=())
    Task.objects.update(position=None)
    first, *rest = Task.objects.order_by("pk").values_list("pk", flat=True)

    for does, state in (
        ("submit", TaskState.IN_REVIEW),
        ("withdraw", TaskState.DRAFT),
        ("retire", TaskState.RETIRED),
        ("reopen", TaskState.DRAFT),
    ):
        queries = change(benchmark, [first], does, "", owner)
        assert change(benchmark, rest, does, "", owner) <= queries
        assert set(Task.objects.values_list("state", flat=True)) == {state}
    for verb in ("submitted", "withdrawn", "retired", "reopened"):
        assert Event.objects.filter(verb=verb, actor=owner, task__isnull=False).count() == TASKS
    messages = Notification.objects.filter(user=reviewer, kind=Notification.Kind.REVIEW_REQUESTED)
    assert messages.values("task").distinct().count() == TASKS


BATCHES = 4
"""Queries more, where many tasks are more than one batch of a write."""


@pytest.mark.slow
def test_number_of_queries_of_bulk_edits_is_constant(project):
    benchmark, owner, reviewer = project
    first, *rest = Task.objects.order_by("pk").values_list("pk", flat=True)
    for does, value in (
        ("writer", owner.username),
        ("reviewer", reviewer.username),
        ("category", benchmark.taxonomy.categories.first().code),
        ("tools", "gmail__send_email"),
    ):
        queries = change(benchmark, [first], does, value, owner)
        assert change(benchmark, rest, does, value, owner) <= queries + BATCHES, does
