"""Five ways to the findings of a task agree."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.html import escape

from studio.domain.task import HiddenIntent
from studio.drafts.load import load_episode, load_task
from studio.findings import waivers
from studio.imports.export import episode_files
from studio.imports.importer import import_archive
from studio.models import Finding, Role, Task
from studio.tasks.checks import check_unsaved
from tests.evaluation.builders import release_blockers
from tests.factories import BenchmarkFactory, member
from tests.studio.imports.test_importer import zipped
from tests.studio.page_forms import form_of
from tests.studio.review.test_workflow import Desk

pytestmark = pytest.mark.django_db

KEYS = ("rule", "severity", "field", "item", "passage", "message", "fix", "other")
Said = set[tuple[Any, ...]]


def of(rows: Any) -> Said:
    return {tuple(row[key] if isinstance(row, dict) else getattr(row, key) for key in KEYS) for row in rows}


def flawed() -> Desk:
    """A task with an error, warnings and hints."""
    desk = Desk()
    task = load_task(desk.task)
    leak = HiddenIntent(uid="2d1f3c8e-0000-4000-8000-000000000001", content="The plan is saved as plan.md.")
    items = tuple(item.model_copy(update={"criterion": "Does the plan name the rye?"}) for item in task.checklist)
    desk.edit(by=desk.author, title="", intents=(*task.intents, leak), checklist=items)
    return desk


@pytest.mark.slow
def test_editor_import_api_command_and_release_report_the_same_findings(client: Any) -> None:
    desk = flawed()
    benchmark, persona = desk.benchmark, desk.persona
    client.force_login(desk.author)

    stored = of(Finding.objects.filter(task=desk.task))
    assert {severity for _, severity, *_ in stored} >= {"error", "warning"}
    typed = of(check_unsaved(desk.task, load_task(desk.task)))
    page = form_of(client.get(desk.task.get_absolute_url()).content.decode(), "task").data()
    live = client.post(reverse("studio:check", args=[benchmark.slug, persona.user_id, desk.task.pk]), page).json()
    answer = client.get(f"/api/benchmarks/{benchmark.slug}/findings/").json()
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_tasks", "--benchmark", benchmark.slug, "--json", stdout=out)
    reported = json.loads(out.getvalue())["findings"]
    blockers = {
        each.message.partition(": ")[2] for each in release_blockers(benchmark) if each.code.startswith("check-")
    }

    assert typed == stored
    assert set(live["fingerprints"]) == set(
        Finding.objects.filter(task=desk.task).values_list("fingerprint", flat=True)
    )
    assert of(answer["results"]) == stored
    assert of(reported) == stored
    assert blockers == {message for _, severity, *_, message, _, _ in stored if severity == "error"}
    assert imported_again(desk) == stored


@pytest.mark.slow
def test_cards_of_findings_advise_while_typing_as_they_do_when_saved(client: Any) -> None:
    desk = flawed()
    (leak,) = (each for each in load_task(desk.task).intents if "plan.md" in each.content)
    twice = leak.model_copy(update={"uid": "2d1f3c8e-0000-4000-8000-000000000002"})
    desk.edit(by=desk.author, intents=(*load_task(desk.task).intents, twice))
    client.force_login(desk.author)
    saved = client.get(desk.task.get_absolute_url()).content.decode()

    page = form_of(saved, "task").data()
    address = reverse("studio:check", args=[desk.benchmark.slug, desk.persona.user_id, desk.task.pk])
    typed = client.post(address, page).json()["findings"]

    advice = {escape(each.fix) for each in Finding.objects.filter(task=desk.task) if each.fix}
    assert advice
    assert [each for each in advice if f"<p>{each}</p>" not in saved] == []
    assert [each for each in advice if f"<p>{each}</p>" not in typed] == []
    assert re.search(r'title="Intent 3 is removed."[^>]*>\s*Remove intent 3\s*<', typed)


def imported_again(desk: Desk) -> Said:
    """Findings of the task after export and import into another benchmark."""
    other = BenchmarkFactory()
    archive = zipped(episode_files([load_episode(desk.persona)]))
    report = import_archive(other, archive, by=member(other, Role.OWNER))
    assert report.ok, report.to_json()
    row = Task.objects.get(persona__benchmark=other, task_id=desk.task.task_id)
    return of(Finding.objects.filter(task=row))


def test_waived_findings_are_marked_everywhere(client: Any) -> None:
    desk = flawed()
    warning = Finding.objects.filter(task=desk.task, severity="warning").earliest("pk")
    waivers.add_waiver(desk.task.pk, warning.fingerprint, by=desk.author, reason="So be it.")
    client.force_login(desk.author)

    answer = client.get(f"/api/benchmarks/{desk.benchmark.slug}/findings/").json()["results"]
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_tasks", "--benchmark", desk.benchmark.slug, "--json", stdout=out)
    reported = json.loads(out.getvalue())["findings"]

    for rows in (answer, reported):
        assert {row["waived"] for row in rows if row["rule"] == warning.rule} == {"So be it."}
        assert {row["waived"] for row in rows if row["rule"] != warning.rule} == {None}
