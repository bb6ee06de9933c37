"""Many rows stored by COPY."""

import uuid

import pytest
from django.db import IntegrityError, transaction

from studio.models import ChecklistItem, Event, HiddenIntent
from studio.models.copying import FEW, create_rows
from tests.factories import BenchmarkFactory, a_persona, a_task

pytestmark = pytest.mark.django_db
ODD = ("", "a\tb\\n\nc\r\\", "\\N", "NULL", '"quoted", it\'s', "ü–😀", "\\.", "{}")


def items(task):
    return [
        ChecklistItem(
            task=task,
            uid=uuid.uuid4(),
            position=100 + number,
            criterion=ODD[number % len(ODD)],
            weight=0.1 * (number + 1),
            grader="rule" if number % 2 else "rubric",
            rule={"b": number, "a": ODD[number % len(ODD)]} if number % 2 else None,
            evidence=["x\ty"] * (number % 3),
            source={},
        )
        for number in range(FEW + len(ODD))
    ]


def test_copied_rows_read_back_as_they_were_made():
    task = a_task(a_persona(BenchmarkFactory()))
    made = create_rows(items(task))

    stored = {row.pk: row for row in ChecklistItem.objects.filter(task=task, position__gte=100)}
    assert len(stored) == len(made)
    for row in made:
        for field in ChecklistItem._meta.concrete_fields:
            assert getattr(stored[row.pk], field.attname) == getattr(row, field.attname)
        assert list(stored[row.pk].rule or {}) == list(row.rule or {})
    made[0].criterion = "Changed later."
    made[0].save()
    assert ChecklistItem.objects.get(pk=made[0].pk).criterion == "Changed later."


def test_copied_rows_get_the_time_and_json_that_saving_would_give():
    benchmark = BenchmarkFactory()
    create_rows([Event(benchmark=benchmark, verb="tried", data={"n": [number, None]}) for number in range(FEW)])

    rows = Event.objects.filter(verb="tried").order_by("pk")
    assert [row.data for row in rows] == [{"n": [number, None]} for number in range(FEW)]
    assert all(row.at and row.task_id is None for row in rows)


def test_copied_rows_obey_the_constraints():
    task = a_task(a_persona(BenchmarkFactory()))
    same = uuid.uuid4()
    rows = [HiddenIntent(task=task, uid=same, position=100 + number, content="x") for number in range(FEW)]
    with pytest.raises(IntegrityError), transaction.atomic():
        create_rows(rows)
    assert not HiddenIntent.objects.filter(uid=same).exists()
