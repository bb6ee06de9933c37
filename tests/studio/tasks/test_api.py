"""The API's list of a benchmark's tasks."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from studio.findings.queries import count_findings
from studio.models import Assignment, Finding, Role, Task
from studio.tasks.transitions import submit
from tests.factories import BenchmarkFactory, a_persona, a_task, member, task_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk():
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    return benchmark, owner, a_persona(benchmark, by=owner)


def api(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


def url(benchmark):
    return f"/api/benchmarks/{benchmark.slug}/tasks/"


def names(client, benchmark, **filters):
    return [task["task_id"] for task in client.get(url(benchmark), filters).json()["results"]]


def test_tasks_are_filtered_as_on_their_page(desk):
    benchmark, owner, baker = desk
    miller = a_persona(benchmark, "miller", by=owner)
    a_task(baker, "bread", by=owner, title="Bread")
    rolls = a_task(baker, "rolls", by=owner, title="Rolls", initial_request="Croissants as well.")
    flour = a_task(miller, "flour", by=owner, title="Flour")
    submit(rolls.pk, by=owner)
    Finding.objects.all().delete()
    Finding.objects.create(task=flour, rule="r", severity="error", message="m", fingerprint="f")
    count_findings([flour.pk])
    writer = member(benchmark, Role.AUTHOR)
    Assignment.objects.create(task=flour, user=writer, part="writer")
    client = api(owner)

    assert names(client, benchmark) == ["bread", "rolls", "flour"]
    assert names(client, benchmark, persona="miller") == ["flour"]
    assert names(client, benchmark, state="in_review") == ["rolls"]
    assert names(client, benchmark, findings="error") == ["flour"]
    assert names(client, benchmark, q="croissant") == ["rolls"]
    assert names(client, benchmark, writer=writer.username) == ["flour"]
    assert names(api(writer), benchmark, writer="me") == ["flour"]
    row = client.get(url(benchmark), {"q": "flour"}).json()["results"][0]
    assert (row["persona"], row["errors"], row["author"], row["reviewers"]) == ("miller", 1, writer.username, [])
    assert (row["intents"], row["items"]) == (1, 1)
    assert api(member(BenchmarkFactory(), Role.OWNER)).get(url(benchmark)).status_code == 404


@pytest.mark.slow
def test_cursor_lists_every_task_once_although_tasks_move(desk):
    benchmark, owner, persona = desk
    for number in range(7):
        a_task(persona, f"t{number}", by=owner)
    client, seen, address = api(owner), [], url(benchmark) + "?page_size=3"
    while address:
        answer = client.get(address).json()
        seen += [task["task_id"] for task in answer["results"]]
        address = answer["next"]
        Task.objects.filter(task_id="t0").update(position=100 + len(seen))

    assert seen == [f"t{number}" for number in range(7)]


def test_number_of_queries_is_the_same_for_300_tasks(desk, django_assert_max_num_queries):
    benchmark, owner, persona = desk
    a_task(persona, by=owner)
    client = api(owner)
    with django_assert_max_num_queries(12) as few:
        assert len(client.get(url(benchmark)).json()["results"]) == 1
    Task.objects.bulk_create(task_row(persona, f"t{number}", number + 2) for number in range(299))
    with django_assert_max_num_queries(len(few)):
        assert len(client.get(url(benchmark), {"page_size": 200}).json()["results"]) == 200
