"""Large imports, whose checks run afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from evaluation.releases.candidate import load_candidate
from evaluation.releases.readiness import find_blockers
from studio.drafts.load import load_task
from studio.findings import deferred
from studio.findings.deferred import check_deferred, unchecked_tasks
from studio.findings.waivers import WaiverError, add_waiver, waive_error
from studio.imports.importer import import_files
from studio.imports.publication import confirm_publication
from studio.models import Benchmark, Finding, Import, Persona, Role, Task
from studio.models.findings import NOT_CHECKED
from studio.tasks.save import save_task
from tests.bench.import_2000 import files
from tests.factories import BenchmarkFactory, api_token, member
from tests.studio.imports.archives import zipped

pytestmark = pytest.mark.django_db
SMALL = files(personas=2, tasks=2)


def found(benchmark: Benchmark) -> set[tuple[Any, ...]]:
    rows = Finding.objects.filter(task__persona__benchmark=benchmark)
    return set(rows.values_list("task__task_id", "rule", "severity", "field", "item", "message", "fingerprint"))


def deferred_import() -> Benchmark:
    benchmark = BenchmarkFactory()
    report = import_files(benchmark, SMALL, by=None, defer_above=3)
    assert report.unchecked == 4
    return benchmark


def test_deferred_checks_find_in_the_end_what_an_import_finds_at_once() -> None:
    benchmark, other = deferred_import(), BenchmarkFactory()
    report = import_files(other, SMALL, by=None, defer_above=4)

    assert report.unchecked == 0
    assert {row[1] for row in found(benchmark)} == {NOT_CHECKED}
    check_deferred()
    assert unchecked_tasks(benchmark) == 0
    assert found(benchmark) == found(other)


def test_unchecked_task_looks_clean_nowhere() -> None:
    benchmark = deferred_import()
    owner = member(benchmark, Role.OWNER)
    client = Client()
    client.force_login(owner)

    assert set(Task.objects.values_list("n_errors", flat=True)) == {1}
    page = client.get(reverse("studio:findings", args=[benchmark.slug])).content.decode()
    assert "4 imported tasks wait for the checks" in page
    blockers = [blocker.code for blocker in find_blockers(load_candidate(benchmark))]
    assert blockers.count(f"check-{NOT_CHECKED}") == 4
    task = Task.objects.earliest("pk")
    for waive in (add_waiver, waive_error):
        with pytest.raises(WaiverError):
            waive(task.pk, NOT_CHECKED, by=owner, reason="It will be fine.")


def test_saving_a_task_checks_its_persona_at_once() -> None:
    benchmark = deferred_import()
    task = Task.objects.earliest("pk")
    save_task(task.pk, load_task(task).model_copy(update={"title": "Another title"}), by=None)

    waiting = Finding.objects.filter(rule=NOT_CHECKED).values_list("task__persona__user_id", flat=True)
    assert set(waiting) == {"persona_001"}
    assert unchecked_tasks(benchmark) == 2


def test_findings_from_before_stay_until_the_checks_ran_again() -> None:
    benchmark = BenchmarkFactory()
    import_files(benchmark, SMALL, by=None)
    before = found(benchmark)
    changed = {path: content.replace(b"Need 3", b"Need 5") for path, content in SMALL.items()}
    for number in (5, 6):  # waiting twice is waiting once
        changed = {path: content.replace(b"Need 5", b"Need %d" % number) for path, content in changed.items()}
        import_files(benchmark, changed, by=None, defer_above=0)

    assert before < found(benchmark)
    assert unchecked_tasks(benchmark) == 4


def test_persona_whose_checks_fail_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark = deferred_import()
    bad = Persona.objects.get(user_id="persona_000")
    refresh = deferred.refresh_findings

    def failing(personas: Any, **options: Any) -> None:
        if bad in personas:
            raise RuntimeError("a defect of a rule")
        refresh(personas, **options)

    monkeypatch.setattr(deferred, "refresh_findings", failing)
    check_deferred()

    waiting = Finding.objects.filter(rule=NOT_CHECKED)
    assert {row.task.persona for row in waiting} == {bad}
    assert unchecked_tasks(benchmark) == 2


@pytest.mark.slow
def test_confirming_what_was_approved_elsewhere_checks_it_first() -> None:
    benchmark = BenchmarkFactory()
    owner, second = member(benchmark, Role.OWNER), member(benchmark, Role.OWNER)
    import_files(benchmark, SMALL, by=owner, published=True, defer_above=0)
    Finding.objects.exclude(rule=NOT_CHECKED).delete()
    request = Import.objects.get(publication="requested")
    client = Client()
    client.force_login(second)

    assert "The checks find errors" not in client.get(request.get_absolute_url()).content.decode()
    assert confirm_publication(request.pk, by=second) == 4
    assert unchecked_tasks(benchmark) == 0


@pytest.mark.slow
def test_command_api_and_page_say_what_waits(monkeypatch: pytest.MonkeyPatch, tmp_path: Any, capsys: Any) -> None:
    monkeypatch.setattr("studio.api.benchmarks.DEFER_ABOVE", 3)
    monkeypatch.setattr("studio.imports.importer.DEFER_ABOVE", 3)
    archive = tmp_path / "data.zip"
    archive.write_bytes(zipped(SMALL))
    benchmark = BenchmarkFactory()
    owner = member(benchmark, Role.OWNER)
    call_command("pibench_import", str(archive), "--benchmark", "more", "--by", owner.username, "--defer-checks")
    assert "4 tasks wait for a worker to check them." in capsys.readouterr().out

    client = Client(headers={"authorization": f"Token {api_token(owner)}"})
    upload = SimpleUploadedFile("data.zip", archive.read_bytes())
    report = client.post(f"/api/benchmarks/{benchmark.slug}/imports/", {"archive": upload}).json()
    assert report["unchecked"] == 4

    third = BenchmarkFactory()
    client = Client()
    client.force_login(member(third, Role.OWNER))
    upload = SimpleUploadedFile("data.zip", archive.read_bytes())
    client.post(reverse("studio:import_start", args=[third.slug]), {"archive": upload})
    decide = reverse("studio:import_decide", args=[third.slug, Import.objects.get(benchmark=third).pk])
    page = client.post(decide, follow=True).content.decode()
    assert "The checks of 4 tasks run now in the background." in page
