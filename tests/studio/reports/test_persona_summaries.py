"""Summaries of personas: triggers keep them equal to a recount from all tasks."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from django.db import connection

from studio.imports.sample import load_sample
from studio.models import (
    Asset,
    Benchmark,
    ChecklistItem,
    Dependency,
    DependencyGroup,
    Finding,
    HiddenIntent,
    PersonaSummary,
    Task,
    TaskState,
    TaskSummary,
    Waiver,
)
from studio.reports.statistics import totals_of
from tests.factories import BenchmarkFactory, a_persona, a_task, member

pytestmark = pytest.mark.django_db
OPEN = ("draft", "in_review", "changes_requested", "retired")
"""States that need no approvals."""
SUMS = ("local", "persistent", "rubric", "rule", "files", "errors", "warnings", "hints")


def recounted(persona):
    """What a persona's summary should say, from the summaries of its tasks."""
    rows = list(TaskSummary.objects.filter(persona=persona))
    groups = dict(DependencyGroup.objects.values_list("pk", "name"))
    placed = [row for row in rows if row.position is not None and row.state != "retired"]
    return {
        "tasks": len(rows),
        "sessions": sum(row.position is not None for row in rows),
        "dependencies": sum(len(row.needs) for row in rows),
        **{name: sum(getattr(row, name) for row in rows) for name in SUMS},
        **{state: sum(row.state == state for row in rows) for state in TaskState.values},
        "categories": dict(Counter(row.category for row in rows)),
        "tools": dict(Counter(name for row in rows for name in row.tools)),
        "skills": dict(Counter(name for row in rows for name in row.skills)),
        "episode": "\x1e".join(
            "\x1f".join(
                (
                    str(row.pk),
                    ",".join(map(str, row.needs)),
                    "" if row.trigger_kind == "user_message" else "signal",
                    groups.get(row.group, ""),
                )
            )
            for row in sorted(placed, key=lambda row: (row.position, row.pk))
        ),
    }


def assert_summaries_hold():
    for summary in PersonaSummary.objects.all():
        wanted = recounted(summary.persona_id)
        assert {name: getattr(summary, name) for name in wanted} == wanted
    assert set(TaskSummary.objects.values_list("persona", flat=True)) <= set(
        PersonaSummary.objects.values_list("pk", flat=True)
    )


def test_summaries_of_personas_hold_after_random_changes_and_when_begun_anew():
    chance = random.Random(7)
    benchmark = BenchmarkFactory()
    owner = member(benchmark, "owner")
    personas = [a_persona(benchmark, name, by=owner) for name in ("baker", "miller")]
    for number in range(6):
        a_task(personas[number % 2], by=owner, task_id=f"task_{number}")
    positions = itertools.count(100)
    groups = [persona.episode.groups.create(position=number + 50) for number, persona in enumerate(personas)]

    def choose(model, **conditions):
        return chance.choice(list(model.objects.filter(**conditions).order_by("pk")) or [None])

    def any_of(model, field):
        return chance.choice([value for value, _ in model._meta.get_field(field).choices])

    def find(task, severity):
        number = Finding.objects.count()
        Finding.objects.create(task=task, rule="r", severity=severity, message="m", fingerprint=f"f{number}")

    def set_aside(task):
        finding = choose(Finding, task=task, severity="warning")
        if finding:
            Waiver.objects.get_or_create(
                task=task, fingerprint=finding.fingerprint, defaults={"rule": "r", "reason": "So.", "by": owner}
            )

    def move(task):
        Task.objects.filter(pk=task.pk).update(
            episode=chance.choice(personas).episode, group=None, position=chance.choice([None, next(positions)])
        )

    changes = [
        lambda task: Task.objects.filter(pk=task.pk).update(state=chance.choice(OPEN)),
        lambda task: Task.objects.filter(pk=task.pk).update(category=chance.choice(["", "F", "G"])),
        lambda task: Task.objects.filter(pk=task.pk).update(tools=chance.sample(["a", "b", "c"], 2)),
        lambda task: Task.objects.filter(pk=task.pk).update(skills=chance.sample(["x", "y"], 1)),
        lambda task: Task.objects.filter(pk=task.pk).update(group=choose(DependencyGroup, episode=task.episode)),
        lambda task: Task.objects.filter(pk=task.pk).update(trigger_kind=any_of(Task, "trigger_kind")),
        lambda task: HiddenIntent.objects.filter(task=task).update(scope=any_of(HiddenIntent, "scope")),
        lambda task: ChecklistItem.objects.filter(task=task).update(grader=any_of(ChecklistItem, "grader")),
        lambda task: find(task, chance.choice(["error", "warning", "hint"])),
        set_aside,
        move,
        lambda task: DependencyGroup.objects.filter(pk=chance.choice(groups).pk).update(name=chance.choice("pqr")),
        lambda task: Dependency.objects.filter(task=task).delete(),
        lambda task: Asset.objects.filter(task=task).delete(),
    ]
    for _ in range(60):
        chance.choice(changes)(choose(Task))
        assert_summaries_hold()
    choose(Task).delete()
    assert_summaries_hold()

    stored = list(PersonaSummary.objects.order_by("pk").values())
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM studio_personasummary")
        cursor.execute(
            "SELECT begin_persona_summaries(keys), summarize_personas(keys)"
            " FROM (SELECT array_agg(DISTINCT persona_id) AS keys FROM studio_tasksummary) every"
        )
    assert list(PersonaSummary.objects.order_by("pk").values()) == stored


def test_summaries_of_an_imported_persona_hold_and_a_benchmark_comes_to_their_sum():
    load_sample()
    assert_summaries_hold()
    benchmark = Benchmark.objects.get(slug="sample")
    total = totals_of("benchmark", [benchmark.pk])[benchmark.pk]
    tasks = TaskSummary.objects.filter(persona__benchmark=benchmark)
    assert total.personas == benchmark.personas.count()
    assert total.figures.tasks == tasks.count()
    assert total.states == Counter(tasks.values_list("state", flat=True))
    assert total.findings == +Counter(
        {name: sum(tasks.values_list(f"{name}s", flat=True)) for name in ("error", "warning", "hint")}
    )


def test_deleting_a_persona_leaves_no_summary():
    persona = a_persona(BenchmarkFactory())
    a_task(persona)
    persona.delete()
    connection.check_constraints()
    assert not PersonaSummary.objects.exists()
