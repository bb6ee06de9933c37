"""Imports in the browser: preview, then confirm."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from studio.imports.importer import import_archive, import_files, import_path
from studio.models import Import, Role, Task
from tests.factories import BenchmarkFactory, member

pytestmark = pytest.mark.django_db
SAMPLE = Path(__file__).resolve().parents[3] / "fixtures" / "sample" / "data" / "radio_producer"


@pytest.fixture
def desk():
    benchmark = BenchmarkFactory()
    client = Client()
    client.force_login(member(benchmark, Role.AUTHOR))
    return benchmark, client


def sample_files():
    return {
        f"radio_producer/{path.relative_to(SAMPLE).as_posix()}": path.read_bytes()
        for path in sorted(SAMPLE.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def zipped(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return SimpleUploadedFile("radio.zip", buffer.getvalue())


@pytest.mark.slow
def test_zip_is_previewed_and_stored_only_after_confirmation(desk):
    benchmark, client = desk

    shown = client.post(
        reverse("studio:import_start", args=[benchmark.slug]), {"archive": zipped(sample_files())}, follow=True
    )
    assert "Nothing has been imported yet" in shown.content.decode()
    assert Task.objects.count() == 0
    row = Import.objects.get()
    decide = reverse("studio:import_decide", args=[benchmark.slug, row.pk])
    done = client.post(decide, follow=True)

    assert "Imported: 7 new, 0 changed" in done.content.decode()
    assert Task.objects.count() == 7
    row.refresh_from_db()
    assert (row.state, row.upload) == ("done", None)
    assert "already been completed or discarded" in client.post(decide, follow=True).content.decode()


@pytest.mark.slow
def test_folder_upload_includes_file_paths(desk):
    benchmark, client = desk
    files = sample_files()
    sent = [SimpleUploadedFile(name.rsplit("/", 1)[-1], content) for name, content in files.items()]

    client.post(
        reverse("studio:import_start", args=[benchmark.slug]), {"folder": sent, "paths": json.dumps(list(files))}
    )
    row = Import.objects.get()
    client.post(reverse("studio:import_decide", args=[benchmark.slug, row.pk]))

    assert row.report["totals"]["tasks"] == 7
    assert Task.objects.count() == 7


def test_broken_file_is_reported_with_its_position_and_cannot_be_confirmed(desk):
    benchmark, client = desk
    files = sample_files()
    name = next(name for name in files if name.endswith("task.yaml"))
    files[name] = b"schema_version: v2\ntitle: [open\n"

    page = client.post(
        reverse("studio:import_start", args=[benchmark.slug]), {"archive": zipped(files)}, follow=True
    ).content.decode()

    problem = Import.objects.get().report["errors"][0]
    assert f"{problem['file']}:{problem['line']}" in page
    assert "Nothing was imported." in page
    assert "/decide/" not in page


def test_dropped_import_stores_nothing(desk):
    benchmark, client = desk
    client.post(reverse("studio:import_start", args=[benchmark.slug]), {"archive": zipped(sample_files())})
    row = Import.objects.get()

    client.post(reverse("studio:import_decide", args=[benchmark.slug, row.pk]), {"drop": "1"})

    row.refresh_from_db()
    assert (row.state, row.upload, Task.objects.count()) == ("dropped", None, 0)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "Choose a zip or a folder first."),
        ({"folder": [SimpleUploadedFile("a", b"a")], "paths": "[]"}, "without its file paths"),
        ({"folder": [SimpleUploadedFile("a", b"a")], "paths": "{"}, "without its file paths"),
    ],
)
def test_unreadable_upload_is_reported(desk, data, sentence):
    benchmark, client = desk

    page = client.post(reverse("studio:import_start", args=[benchmark.slug]), data)

    assert sentence in page.content.decode()


def test_paths_outside_the_folder_are_rejected(desk):
    benchmark, client = desk
    sent = [SimpleUploadedFile("profile.yaml", b"schema_version: v2\n")]

    client.post(
        reverse("studio:import_start", args=[benchmark.slug]), {"folder": sent, "paths": '["../../etc/profile.yaml"]'}
    )

    row = Import.objects.get()
    assert row.state == "refused"
    assert row.report["errors"]


def test_preview_shows_the_titles_of_new_tasks(desk):
    benchmark, client = desk
    address = reverse("studio:import_start", args=[benchmark.slug])

    page = client.post(address, {"archive": zipped(sample_files())}, follow=True).content.decode()

    assert "Running order for 11 March<br>" in page
    assert "radio_03_running_order</span>" in page


def entries(answer):
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_downloaded_persona_is_the_same_when_it_is_imported_again(desk):
    benchmark, client = desk
    import_path(benchmark, SAMPLE, by=None)
    persona = benchmark.personas.get()

    answer = client.get(reverse("studio:persona_download", args=[benchmark.slug, persona.user_id]))

    assert 'filename="radio_producer.zip"' in answer.headers["Content-Disposition"]
    again = import_archive(benchmark, answer.content, by=None)
    assert (again.errors, again.created, again.updated) == ([], [], [])
    assert len(again.unchanged) == 7


def test_a_downloaded_task_is_its_own_folder_with_its_references(desk):
    benchmark, client = desk
    import_path(benchmark, SAMPLE, by=None)
    task = Task.objects.get(task_id="radio_03_running_order")

    files = entries(client.get(reverse("studio:task_download", args=[benchmark.slug, "radio_producer", task.pk])))

    root = f"data/radio_producer/tasks/{task.task_id}/"
    assert f"{root}task.yaml" in files
    whole = entries(client.get(reverse("studio:persona_download", args=[benchmark.slug, "radio_producer"])))
    assert files == {name: content for name, content in whole.items() if f"/{task.task_id}/" in name}
    assert {name for name in files if not name.startswith(root)} <= {
        name for name in files if f"/{task.task_id}/" in name
    }
    again = import_files(benchmark, files, by=None)
    assert (again.errors, again.warnings, again.created, again.updated) == ([], [], [], [])


def test_a_refused_import_offers_to_upload_again_where_its_errors_stand(desk):
    benchmark, client = desk
    files = sample_files()
    files["radio_producer/tasks/radio_01_clock/task.yaml"] = b"[\n"
    start = reverse("studio:import_start", args=[benchmark.slug])

    page = client.post(start, {"archive": zipped(files)}, follow=True).content.decode()

    assert "Nothing was imported." in page
    assert "Upload again" in page and f'action="{start}"' in page
