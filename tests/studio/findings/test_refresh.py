"""Stored findings after an edit are those of checking everything anew."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import transaction

from studio.domain.checks import RULES, find_problems
from studio.domain.task import Dependency, TaskSpec
from studio.drafts.load import load_task
from studio.findings import refresh
from studio.findings.queries import count_findings
from studio.findings.refresh import FIELDS, check_personas, refresh_findings
from studio.models import Finding, Persona, Task
from studio.tasks.save import save_task
from tests.at_once import after
from tests.bench.checks import read
from tests.factories import BenchmarkFactory, a_persona, a_task

Reported = set[tuple[Any, ...]]


def stored(persona: Persona) -> Reported:
    rows = Finding.objects.filter(task__persona=persona)
    return {(row.task.task_id, row.fingerprint, *(getattr(row, name) for name in FIELDS)) for row in rows}


def anew(persona: Persona) -> Reported:
    return {
        (finding.task, finding.fingerprint, *(getattr(finding, name) for name in FIELDS))
        for finding in check_personas([persona])
    }


def edit(task: Task, **fields: Any) -> None:
    save_task(task.pk, load_task(task).model_copy(update=fields), by=None)


def bakery() -> tuple[Persona, list[Task]]:
    persona = a_persona(BenchmarkFactory())
    return persona, [a_task(persona, name, title=f"Title of {name}") for name in ("flour", "bread", "cakes")]


@pytest.mark.slow
@pytest.mark.django_db
def test_stored_findings_follow_every_edit() -> None:
    persona, (flour, bread, cakes) = bakery()
    steps: list[tuple[Task, dict[str, Any]]] = [
        (bread, {"title": "Title of flour"}),  # a duplicate, which names the other task
        (flour, {"title": "Title of the flour", "initial_request": "Please do it."}),
        (cakes, {"depends_on": (Dependency(task_id="flour"),)}),
        (flour, {"title": "Another title", "checklist": ()}),
        (bread, {"title": "", "intents": ()}),
    ]
    for task, fields in steps:
        edit(task, **fields)
        assert stored(persona) == anew(persona), fields


@pytest.mark.django_db
def test_rules_of_one_task_read_only_the_task_that_changed() -> None:
    _, (flour, _, _) = bakery()
    ids: list[str] = []
    check = RULES["empty-title"].check

    def recorded(task: TaskSpec, context: Any) -> Any:
        ids.append(task.task_id)
        return check(task, context)

    object.__setattr__(RULES["empty-title"], "check", recorded)
    try:
        edit(flour, title="")
    finally:
        object.__setattr__(RULES["empty-title"], "check", check)
    assert ids == ["flour"]


@pytest.mark.django_db
def test_new_version_of_the_rules_checks_everything_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    persona, (_, bread, _) = bakery()
    edit(bread, title="")
    complete = stored(persona)
    Finding.objects.filter(rule__in=refresh.SINGLE_TASK_RULES).delete()
    refresh_findings([persona])
    assert stored(persona) != complete
    monkeypatch.setattr(refresh, "version_of_rules", lambda: "another")
    refresh_findings([persona])
    assert stored(persona) == complete


@pytest.mark.django_db(transaction=True)
def test_of_two_who_count_at_once_the_second_counts_what_the_first_has_found() -> None:
    _, (flour, *_) = bakery()
    number = Finding.objects.filter(task=flour, severity="hint").count()

    def find() -> None:
        Finding.objects.create(task=flour, rule="empty-title", severity="hint", fingerprint="new", message="M.")
        count_findings([flour.pk])

    Task.objects.filter(pk=flour.pk).update(n_hints=9)
    after(find, lambda: transaction.atomic(count_findings)([flour.pk]))

    assert Task.objects.get(pk=flour.pk).n_hints == number + 1


@pytest.mark.slow
def test_unchanged_real_tasks_keep_the_findings_of_rules_that_read_one_task(pibench_data: Any) -> None:
    for name in ("law_trainee", "marketer"):
        episode, texts = read(pibench_data, name)
        everything = find_problems(episode, texts=texts)
        unchanged = {task.task_id for task in episode.tasks[3:]}
        some = find_problems(episode, texts=texts, unchanged=unchanged)
        left = [each for each in everything if each.task not in unchanged or RULES[each.rule].across_tasks]
        assert some == left
