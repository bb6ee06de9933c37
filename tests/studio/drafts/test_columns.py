"""What stands beside a task's document, and what the database refuses."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import IntegrityError, connection, transaction

from studio.domain.task import Dependency, HiddenIntent, Recovery, ToolEvidence
from studio.drafts.load import load_task
from studio.findings.queries import COUNTS, open_findings
from studio.findings.waivers import add_waiver, remove_waiver
from studio.imports.sample import load_sample
from studio.models import Finding, Task
from studio.models.tasks import SPEC_FIELDS
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member, rewrite, stored, task_row

pytestmark = pytest.mark.django_db
WEIGHTLESS = {"uid": "u", "criterion": "", "weight": 0}


def assert_columns_hold() -> None:
    assert Task.objects.exists()
    for task in Task.objects.all():
        fresh = Task()
        fresh.set_spec(load_task(task))
        assert {name: getattr(task, name) for name in SPEC_FIELDS} == {
            name: getattr(fresh, name) for name in SPEC_FIELDS
        }
        found = Counter(open_findings().filter(task=task).values_list("severity", flat=True))
        assert [getattr(task, name) for name in COUNTS] == [found[name[2:-1]] for name in COUNTS]
        assert task.last_author == task.revisions.get(number=task.version).created_by


@pytest.mark.slow
def test_columns_follow_every_save_import_and_dismissal():
    load_sample()
    owner = member(Task.objects.first().persona.benchmark, "owner")
    assert_columns_hold()
    task = Task.objects.filter(findings__severity="hint").first() or Task.objects.first()
    spec = load_task(task)
    save_task(task.pk, spec.model_copy(update={"category": "F", "checklist": spec.checklist[:1]}), by=owner)
    assert_columns_hold()
    Finding.objects.create(task=task, rule="r", severity="warning", message="m", fingerprint="f")
    add_waiver(task.pk, "f", by=owner, reason="Meant so.")
    assert_columns_hold()
    remove_waiver(task.pk, "f", by=owner)
    assert_columns_hold()


def test_counts_are_those_of_the_document():
    intents = (
        HiddenIntent(uid="6f3c1c4e-8f7e-5b3a-9a55-0c6f4d2b1a00", content="Rye.", scope="persistent"),
        a_task_spec().intents[0],
    )
    rows = (*a_task_spec().checklist, a_task_spec().checklist[0].model_copy(update={"criterion": " ", "uid": "x"}))
    row = task_row(
        a_persona(BenchmarkFactory()), "bread", intents=intents, checklist=rows, assets=(stored("list.csv", b"a"),)
    )
    assert (row.n_local, row.n_persistent, row.n_rubric, row.n_rule, row.n_files) == (1, 1, 1, 0, 1)
    assert (row.n_intents, row.n_items) == (2, 1)


def test_tools_are_named_as_needed_as_evidence_in_rules_and_as_sources():
    source = Recovery(kind="tool", ref="gmail__c.result")
    intent = a_task_spec().intents[0].model_copy(update={"recoverable_from": (source,)})
    task = a_task(
        a_persona(BenchmarkFactory(), tools=("gmail__a",)),
        tools=("mcp_appworld_gmail__a", "gmail__a "),
        tool_evidence=(ToolEvidence(tool="gmail__b", call=("x",)),),
        intents=(intent,),
    )
    assert task.tools_named == ["gmail__a", "gmail__b", "gmail__c"]


@pytest.mark.parametrize(
    ("constraint", "change"),
    [
        ("task_columns_of_document", {"title": "Another"}),
        ("task_columns_of_document", {"task_id": "another"}),
        ("task_columns_of_document", {"group": "Rye"}),
        ("task_needs_others", {"needs": ["bread"]}),
        ("task_once", {"task_id": "rolls", "spec": a_task_spec("rolls").to_json()}),
        ("task_weights_positive", {"spec": a_task_spec(checklist=[WEIGHTLESS]).to_json()}),
        ("task_uids_differ", {"spec": a_task_spec(checklist=a_task_spec().checklist * 2).to_json()}),
    ],
)  # fmt: skip
def test_database_refuses_a_task_that_is_not_its_document(constraint, change):
    persona = a_persona(BenchmarkFactory())
    a_task(persona, "rolls")
    task = a_task(persona)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        Task.objects.filter(pk=task.pk).update(**change)


def _break(step: str, first: Task, second: Task) -> None:
    with transaction.atomic():
        if step == "swap":
            Task.objects.filter(pk=first.pk).update(position=9)
        elif step == "take out":
            Task.objects.filter(pk=second.pk).update(position=None)
        elif step == "rename":
            rewrite([first], task_id="loaf")
        elif step == "delete":
            first.delete()
        else:
            rewrite([first], depends_on=(Dependency(task_id=step),))
        connection.check_constraints()


@pytest.mark.parametrize("step", ["swap", "take out", "rename", "delete", "rolls", "nowhere"])
def test_database_refuses_what_breaks_the_order_of_dependencies(step):
    persona = a_persona(BenchmarkFactory())
    first, second = a_task(persona), a_task(persona, "rolls", depends_on=(Dependency(task_id="bread"),))
    with pytest.raises(IntegrityError, match="not earlier in the same episode"):
        _break(step, first, second)


def test_order_is_asked_for_only_at_the_end_of_a_transaction():
    persona = a_persona(BenchmarkFactory())
    a_task(persona, "rolls", depends_on=())
    Task.objects.bulk_create(
        [task_row(persona, "cake", 3, depends_on=(Dependency(task_id="bread"),)), task_row(persona, "bread", 2)]
    )
    rewrite(Task.objects.filter(task_id="bread"), task_id="loaf")
    rewrite(Task.objects.filter(task_id="cake"), depends_on=(Dependency(task_id="loaf"),))
    connection.check_constraints()
