"""Many rows stored by COPY."""

import uuid

import pytest
from django.db import IntegrityError, transaction

from studio.models import ChecklistItem, Event, HiddenIntent, Revision
from studio.models.copying import FEW, copy_values, create_rows, update_rows
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


def test_texts_at_hand_are_stored_as_the_json_of_a_field():
    task = a_task(a_persona(BenchmarkFactory()))
    texts = [f'{{"b":{number},"a":"ü"}}' for number in range(FEW)]
    rows = [Revision(task=task, number=100 + number, spec=None, sha256="0" * 64) for number in range(FEW)]
    create_rows(rows, written={"spec": texts})

    stored = Revision.objects.filter(task=task, number__gte=100).order_by("number")
    assert [list(row.spec.items()) for row in stored] == [[("b", number), ("a", "ü")] for number in range(FEW)]
    assert [row.pk for row in stored] == [row.pk for row in rows]


def test_copied_values_read_back_as_they_were_given():
    task = a_task(a_persona(BenchmarkFactory()))
    names = ["task_id", "uid", "position", "content", "scope", "initial_status", "recoverable_from", "source"]
    given = [
        (task.pk, uuid.uuid4(), 100 + number, text, "persistent", "provided", [{"note": text}], {text: None})
        for number, text in enumerate(ODD)
    ]
    keys = copy_values(HiddenIntent, names, given, keyed=True)
    unkeyed = [(task.pk, uuid.uuid4(), 200, *given[0][3:])]
    assert copy_values(HiddenIntent, names, unkeyed) == []

    stored = HiddenIntent.objects.filter(task=task, position__gte=100).order_by("position")
    assert list(stored.values_list(*names)) == [*given, *unkeyed]
    assert [row.pk for row in stored][:-1] == keys


def test_updated_rows_read_back_as_they_were_set():
    task = a_task(a_persona(BenchmarkFactory()))
    rows = create_rows(items(task))
    for number, row in enumerate(rows):
        row.criterion, row.weight, row.rule = ODD[-number % len(ODD)], 2.5, {"z": [number], "a": None}
        row.uid, row.evidence, row.position = uuid.uuid4(), [], 500 + number
    rows[0].rule = None
    rows[1].grader = "not among those that are stored"
    update_rows(rows, ["criterion", "weight", "rule", "uid", "evidence", "position"])

    stored = {row.pk: row for row in ChecklistItem.objects.filter(task=task, position__gte=500)}
    for row in rows:
        for name in ("criterion", "weight", "uid", "evidence", "position"):
            assert getattr(stored[row.pk], name) == getattr(row, name)
        assert list((stored[row.pk].rule or {}).items()) == list((row.rule or {}).items())
    assert stored[rows[1].pk].grader == "rule"
