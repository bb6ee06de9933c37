"""Slices of a benchmark's task list."""

from __future__ import annotations

import pytest

from studio.models import Assignment, Membership, Task
from studio.search.task_filters import filter_tasks
from tests.factories import BenchmarkFactory, UserFactory, a_persona, task_row

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("state", ["", "in_review", "approved"])
def test_slices_of_the_task_list_are_those_of_the_whole_list(state):
    benchmark = BenchmarkFactory()
    for number in range(5):
        persona = a_persona(benchmark, f"p{number}")
        Task.objects.bulk_create(
            task_row(persona, f"t{number}_{n}", n or None, state=("draft", "in_review")[(n + number) % 2])
            for n in range(number)  # none of the first
        )
    rows = Task.objects.order_by("persona__position", "persona__user_id", "position", "task_id")
    whole = list(rows.filter(state=state) if state else rows)

    listed = filter_tasks(benchmark, {"state": state}).tasks
    assert len(listed) == len(whole)
    for start in range(0, len(whole) + 3, 3):
        assert [row.pk for row in listed[start : start + 3]] == [row.pk for row in whole[start : start + 3]]


def test_slices_of_a_filtered_list_are_those_of_the_whole_list():
    persona = a_persona(BenchmarkFactory())
    Task.objects.bulk_create(task_row(persona, f"t{n}", n) for n in range(1, 6))
    for start in range(6):
        for length in (1, 2, 3):
            listed = filter_tasks(persona.benchmark, {"trigger": "user_message"}).tasks
            assert [row.position for row in listed[start : start + length]] == list(range(1, 6))[start : start + length]
    assert len(listed) == 5
    assert len(filter_tasks(persona.benchmark, {"persona": "nobody"}).tasks) == 0


def test_each_person_and_benchmark_has_its_own_tasks_of_mine():
    people = [UserFactory(), UserFactory()]
    expected = {}
    for _ in range(2):
        persona = a_persona(BenchmarkFactory())
        for user in people:
            Membership.objects.create(benchmark=persona.benchmark, user=user, role="author")
            task = task_row(persona, f"t{user.pk}")
            task.save()
            Assignment.objects.create(task=task, user=user, part="writer", by=user)
            expected[persona.benchmark, user] = [task.pk]
    found = {
        (benchmark, user): [row.pk for row in filter_tasks(benchmark, {"writer": "me"}, me=user).tasks[:50]]
        for benchmark, user in expected
    }
    assert found == expected
    assert not len(filter_tasks(next(iter(expected))[0], {"writer": "me"}).tasks)


def test_a_filtered_list_is_found_and_counted_with_two_queries(django_assert_num_queries):
    persona = a_persona(BenchmarkFactory())
    for filters in ({"findings": "none", "state": "draft"}, {"persona": "nobody"}, {"reviewer": "none"}):
        listed = filter_tasks(persona.benchmark, filters).tasks
        with django_assert_num_queries(2):
            assert not listed.count()
            assert not listed[:50]
