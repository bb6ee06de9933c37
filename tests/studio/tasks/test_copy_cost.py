"""Queries of copies and moves of many tasks."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from studio.imports.importer import import_files
from studio.imports.taxonomy import ensure_taxonomy
from studio.models import Persona, Role, Task, TaskState
from studio.tasks.copy_tasks import copy_tasks, plan_copy
from tests.bench.import_2000 import files
from tests.factories import BenchmarkFactory, a_persona, member
from tests.shared_rows import fresh

pytestmark = pytest.mark.django_db
MANY = 100
MORE = 10
"""Queries, where many tasks are more than one batch of a write, and their ids are drawn before they are copied."""


@pytest.fixture(scope="module")
def shared_project(module_db):
    benchmark = BenchmarkFactory(taxonomy=ensure_taxonomy())
    owner = member(benchmark, Role.OWNER)
    import_files(benchmark, files(personas=1, tasks=MANY), by=owner)
    connection.cursor().execute("ANALYZE")  # as the server does by itself where nobody waits for it
    there = BenchmarkFactory(taxonomy=benchmark.taxonomy)
    return owner, benchmark.personas.get(), a_persona(there, "miller", by=owner), a_persona(there, "baker", by=owner)


@pytest.fixture
def project(shared_project):
    return fresh(shared_project)


def chosen(persona: Persona, number: int) -> list[Task]:
    rows = Task.objects.filter(persona=persona, state=TaskState.DRAFT).order_by("position")
    return list(rows.select_related("persona__benchmark__taxonomy")[:number])


@pytest.mark.slow
@pytest.mark.parametrize("moving", [False, True])
def test_number_of_queries_does_not_depend_on_the_number_of_copies(project, moving):
    owner, here, *targets = project
    costs = []
    for target, number in zip(targets, (2, MANY - 2), strict=True):
        tasks = chosen(here, number)
        with CaptureQueriesContext(connection) as looked:
            plan = plan_copy(tasks, target, moving=moving)
        assert not plan.refused
        with CaptureQueriesContext(connection) as done:
            assert len(copy_tasks(tasks, target, by=owner, moving=moving)) == len(tasks)
        costs.append((len(looked), len(done)))
    (few_looked, few_done), (looked_at, done_at) = costs
    assert looked_at <= few_looked and done_at <= few_done + MORE
