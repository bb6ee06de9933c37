"""Task summaries: triggers keep them equal to what a full count gives."""

from __future__ import annotations

import pytest

from studio.domain.task import Recovery, ToolEvidence
from studio.drafts.load import load_task
from studio.findings.queries import OpenFindings, open_findings
from studio.findings.waivers import add_waiver, remove_waiver
from studio.imports.importer import import_files
from studio.imports.sample import load_sample
from studio.models import Asset, Benchmark, ChecklistItem, Dependency, Finding, HiddenIntent, Task, TaskSummary, Waiver
from studio.tasks.save import save_task
from studio.tasks.transitions import submit
from tests.bench.import_2000 import files
from tests.factories import BenchmarkFactory, a_persona, a_task, a_task_spec, member, stored

pytestmark = pytest.mark.django_db


def counted(task):
    """What the summary of a task should say, counted from its parts."""
    of_task = {"task": task}
    found = open_findings().filter(**of_task)
    items = ChecklistItem.objects.filter(**of_task).exclude(criterion="")
    intents = HiddenIntent.objects.filter(**of_task)
    return {
        "persona_id": task.episode.persona_id,
        "position": task.position,
        "name": task.task_id,
        "group": task.group_id,
        "state": task.state,
        "category": task.category,
        "trigger_kind": task.trigger_kind,
        "updated_at": task.updated_at,
        "last_author": task.revisions.get(number=task.version).created_by_id,
        "local": intents.exclude(scope="persistent").count(),
        "persistent": intents.filter(scope="persistent").count(),
        "rubric": items.exclude(grader="rule").count(),
        "rule": items.filter(grader="rule").count(),
        "files": Asset.objects.filter(**of_task).count(),
        "errors": found.filter(severity="error").count(),
        "warnings": found.filter(severity="warning").count(),
        "hints": found.filter(severity="hint").count(),
        "needs": list(Dependency.objects.filter(**of_task).order_by("position").values_list("requires_id", flat=True)),
        "skills": list(task.skills),
    }


def assert_summaries_hold():
    tasks = Task.objects.select_related("episode").order_by("pk")
    summaries = TaskSummary.objects.order_by("pk")
    assert [row.pk for row in summaries] == [task.pk for task in tasks]
    for task, row in zip(tasks, summaries, strict=True):
        wanted = counted(task)
        assert {name: getattr(row, name) for name in wanted} == wanted


def test_summaries_follow_every_way_of_changing_a_task():
    benchmark = BenchmarkFactory()
    owner = member(benchmark, "owner")
    baker, miller = a_persona(benchmark, by=owner, tools=("gmail__a",)), a_persona(benchmark, "miller", by=owner)
    bread = a_task(baker, by=owner)
    spec = a_task_spec("rolls", depends_on=({"task_id": "bread"},), assets=(stored("list.csv", b"a,b\n"),))
    rolls = a_task(baker, by=owner, **spec.model_dump(include={"task_id", "depends_on", "assets"}))
    assert_summaries_hold()

    shorter = load_task(rolls).model_copy(
        update={"depends_on": (), "assets": (), "category": "F", "checklist": load_task(rolls).checklist[:1]}
    )
    save_task(rolls.pk, shorter, by=owner, base_version=1)
    assert_summaries_hold()
    submit(bread.pk, by=owner)
    Task.objects.filter(pk=bread.pk).update(episode=miller.episode, position=7)
    assert_summaries_hold()

    Finding.objects.filter(task=rolls).delete()
    for severity in ("error", "warning", "warning", "hint"):
        number = Finding.objects.count()
        Finding.objects.create(task=rolls, rule="r", severity=severity, message="m", fingerprint=f"f{number}")
    warning = Finding.objects.filter(task=rolls, severity="warning").first()
    add_waiver(rolls.pk, warning.fingerprint, by=owner, reason="Meant so.")
    assert_summaries_hold()
    assert TaskSummary.objects.get(pk=rolls.pk).warnings == 1
    remove_waiver(rolls.pk, warning.fingerprint, by=owner)
    assert TaskSummary.objects.get(pk=rolls.pk).warnings == 2
    HiddenIntent.objects.filter(task=rolls).update(scope="persistent")
    assert_summaries_hold()
    rolls.delete()
    assert_summaries_hold()


def test_summaries_of_an_import_hold():
    load_sample()
    assert TaskSummary.objects.count() > 10
    assert_summaries_hold()


def test_summaries_hold_where_an_import_changes_some_of_the_tasks():
    benchmark = BenchmarkFactory()
    import_files(benchmark, files(personas=2, tasks=4), by=None)
    changed = files(personas=1, tasks=3)
    [path] = [path for path in changed if path.endswith("_001/task.yaml")]
    changed[path] = changed[path].replace(b"  difficulty: medium", b"  difficulty: hard").replace(b"Need 3", b"Need 4")
    report = import_files(benchmark, changed, by=None)

    assert len(report.updated) > 1
    assert Task.objects.filter(position=None).count() == 1
    assert_summaries_hold()
    save_task(Task.objects.first().pk, load_task(Task.objects.first()).model_copy(update={"category": "F"}), by=None)
    assert_summaries_hold()


def test_summary_names_the_tools_of_needs_evidence_rules_and_sources():
    persona = a_persona(BenchmarkFactory(), tools=("gmail__a",))
    source = Recovery(kind="tool", ref="gmail__c.result")
    intent = a_task_spec().intents[0].model_copy(update={"recoverable_from": (source,)})
    task = a_task(
        persona,
        tools=("mcp_appworld_gmail__a", "gmail__a "),
        tool_evidence=(ToolEvidence(tool="gmail__b", call=("x",)),),
        intents=(intent,),
    )

    assert TaskSummary.objects.get(pk=task.pk).tools == ["gmail__a", "gmail__b", "gmail__c"]
    HiddenIntent.objects.filter(task=task).update(recoverable_from=[])
    assert TaskSummary.objects.get(pk=task.pk).tools == ["gmail__a", "gmail__b"]


def test_slices_of_open_findings_are_those_of_the_whole_list():
    load_sample()
    benchmark = Benchmark.objects.get(slug="sample")
    tasks = list(Task.objects.filter(episode__persona__benchmark=benchmark).order_by("pk"))
    Finding.objects.bulk_create(
        Finding(
            task=tasks[number * 5 % len(tasks)],
            rule="r",
            severity=("hint", "error", "warning")[number % 3],
            message=str(number),
            fingerprint=str(number),
        )
        for number in range(60)
    )
    waived = Finding.objects.filter(message="2").get()
    Waiver.objects.create(task=waived.task, fingerprint="2", rule="r", reason="So.", by=member(benchmark, "owner"))
    weight = {"error": 0, "warning": 1, "hint": 2}
    rows = open_findings().select_related("task__episode__persona").filter(task__in=tasks)
    whole = sorted(
        rows,
        key=lambda row: (
            weight[row.severity],
            row.task.episode.persona.position,
            row.task.episode.persona.user_id,
            row.task.position,
            row.pk,
        ),
    )

    assert waived not in whole
    listed = OpenFindings(benchmark)
    assert len(listed) == len(whole)
    for start in range(0, len(whole) + 7, 7):
        assert listed[start : start + 7] == whole[start : start + 7]
    warnings = [row for row in whole if row.severity == "warning"]
    assert OpenFindings(benchmark, "warning")[3:9] == warnings[3:9]
