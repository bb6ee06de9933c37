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
from django.utils.html import escape

from studio.drafts.load import load_episode
from studio.episodes.moves import Move, make_move
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
    files["radio_producer/profile.yaml"] = b"schema_version: v2\ntitle: [open\n"

    page = client.post(
        reverse("studio:import_start", args=[benchmark.slug]), {"archive": zipped(files)}, follow=True
    ).content.decode()

    problem = Import.objects.get().report["errors"][0]
    assert f"{problem['file']}:{problem['line']}" in page
    assert "Nothing was imported." in page
    assert "/decide/" not in page


def broken(files, *tasks):
    return {**files, **{f"radio_producer/tasks/{task}/task.yaml": b"title: [open\n" for task in tasks}}


def previewed(desk, files):
    benchmark, client = desk
    page = client.post(reverse("studio:import_start", args=[benchmark.slug]), {"archive": zipped(files)}, follow=True)
    row = Import.objects.first()
    return page.content.decode(), row, reverse("studio:import_decide", args=[benchmark.slug, row.pk])


def test_the_part_without_errors_is_imported_as_previewed(desk):
    benchmark, client = desk
    page, row, decide = previewed(desk, broken(sample_files(), "radio_01_clock"))

    out = {problem["file"].split("/")[2]: problem["message"] for problem in row.report["left_out"]}
    assert out.keys() == {"radio_01_clock", "radio_03_running_order"}
    assert out["radio_03_running_order"] == "It builds on “radio_01_clock”, which is left out."
    assert "Import the rest" in page and all(escape(message) in page for message in out.values())
    promised = {each["task"] for each in row.report["changes"]["created"]}
    client.post(decide, follow=True)

    tasks = Task.objects.filter(persona__benchmark=benchmark).order_by("position")
    assert {task.task_id for task in tasks} == promised and len(promised) == 5
    assert [task.position for task in tasks] == [1, 2, 3, 4, 5]


def test_what_is_left_out_stays_as_it_is_here(desk):
    benchmark, client = desk
    import_files(benchmark, sample_files(), by=benchmark.created_by)
    before = load_episode(benchmark.personas.get())
    name = "radio_producer/tasks/radio_04_music_return/task.yaml"
    files = broken(sample_files(), "radio_01_clock")
    files[name] = files[name].replace(b"title: ", b"title: New ")
    files["radio_producer/profile.yaml"] = files["radio_producer/profile.yaml"].replace(b"name: ", b"name: New ")

    page, row, decide = previewed(desk, files)
    assert [each["task"] for each in row.report["changes"]["updated"]] == ["radio_04_music_return"]
    assert "stay as they are in the studio" in page
    client.post(decide)

    after = load_episode(benchmark.personas.get())
    changed = [old.task_id for old, new in zip(before.tasks, after.tasks, strict=True) if old != new]
    assert changed == ["radio_04_music_return"] and after.persona == before.persona


def test_a_sound_persona_is_imported_beside_one_with_errors(desk):
    benchmark, client = desk
    files = sample_files()
    other = {name.replace("radio_producer/", "editor/"): content for name, content in files.items()}
    other = {name: content.replace(b"radio_producer", b"editor") for name, content in other.items()}
    other["editor/profile.yaml"] = b"[\n"

    _, row, decide = previewed(desk, files | other)
    assert {problem["file"] for problem in row.report["left_out"]} >= {"editor/profile.yaml"}
    client.post(decide)

    assert [persona.user_id for persona in benchmark.personas.all()] == ["radio_producer"]
    assert Task.objects.filter(persona__benchmark=benchmark).count() == 7


def test_what_is_held_out_among_the_rest_is_held_out_here(desk):
    benchmark, client = desk
    files = sample_files()
    import_files(benchmark, files, by=benchmark.created_by)
    benchmark.personas.get().tasks.filter(task_id="radio_04_music_return").update(split="validation")
    fresh, raised = "radio_08_again", "radio_02_briefing"
    task = files["radio_producer/tasks/radio_06_studio_line/task.yaml"]
    files[f"radio_producer/tasks/{fresh}/task.yaml"] = task.replace(b"radio_06_studio_line", fresh.encode())
    splits = f"\n  - task_id: {fresh}\nstudio:\n  splits: {{{fresh}: held_out, {raised}: held_out}}\n"
    files["radio_producer/episode.yaml"] = files["radio_producer/episode.yaml"].rstrip() + splits.encode()

    _, _, decide = previewed(desk, broken(files, "radio_01_clock"))
    client.post(decide)

    tasks = benchmark.personas.get().tasks.exclude(split="public")
    assert dict(tasks.values_list("task_id", "split")) == {
        fresh: "held_out",
        raised: "held_out",
        "radio_04_music_return": "validation",
    }


def with_splits(files, **splits):
    listed = ", ".join(f"{name}: {split}" for name, split in splits.items())
    episode = files["radio_producer/episode.yaml"].rstrip() + f"\nstudio:\n  splits: {{{listed}}}\n".encode()
    return {**files, "radio_producer/episode.yaml": episode}


@pytest.mark.parametrize("left_out", [["radio_03_running_order"], []])
def test_a_group_that_an_import_would_cut_is_held_out_as_a_whole_and_that_is_said(desk, left_out):
    benchmark, client = desk
    files = sample_files()
    import_files(benchmark, files, by=benchmark.created_by)
    first, second = "radio_01_clock", "radio_03_running_order"
    if not left_out:  # it is held out here alone, and the files make a group of it
        alone = benchmark.personas.get()
        owner = member(benchmark, Role.OWNER)
        make_move(alone.pk, Move("stop_depending", (second,), target=first), by=owner)
        make_move(alone.pk, Move("ungroup", (second,)), by=owner)
        make_move(alone.pk, Move("split", (second,), split="held_out"), by=owner)
    files = with_splits(files, **{first: "held_out", second: "held_out"}) if left_out else files

    _, row, decide = previewed(desk, broken(files, *left_out))
    other = second if left_out else first
    said = [each["message"] for each in row.report["warnings"]]
    assert f"“{other}” becomes held-out, as a task of its dependency group is." in said
    client.post(decide)

    tasks = benchmark.personas.get().tasks.exclude(split="public")
    assert dict(tasks.values_list("task_id", "split")) == {first: "held_out", second: "held_out"}


@pytest.mark.parametrize("flaw", ["app", "files"])
def test_a_persona_that_would_be_refused_alone_is_left_out_beside_one_with_errors(desk, flaw, settings):
    benchmark, client = desk
    files = sample_files()

    def named(persona):
        renamed = {name.replace("radio_producer/", f"{persona}/"): content for name, content in files.items()}
        return {name: content.replace(b"radio_producer", persona.encode()) for name, content in renamed.items()}

    other, refused = named("editor"), named("cook")
    other["editor/profile.yaml"] = b"[\n"
    if flaw == "app":
        refused["cook/apps/nosuch.json"] = b"{}"
    else:
        settings.UPLOAD_MAX_TASK_FILES = 9
        refused |= {f"cook/tasks/radio_06_studio_line/{n}.txt": b"abc" for n in range(10)}
    assert import_files(benchmark, refused, by=benchmark.created_by, dry_run=True).errors

    _, row, decide = previewed(desk, files | other | refused)
    client.post(decide)

    assert {problem["file"].split("/")[0] for problem in row.report["left_out"]} == {"editor", "cook"}
    assert [persona.user_id for persona in benchmark.personas.all()] == ["radio_producer"]


def test_nothing_is_offered_where_the_rest_is_here_already(desk):
    benchmark, _ = desk
    import_files(benchmark, sample_files(), by=benchmark.created_by)

    page, row, _ = previewed(desk, broken(sample_files(), "radio_01_clock"))

    assert row.state == "refused" and "Nothing was imported." in page


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


def test_a_preview_counts_its_warnings_above_the_tasks(desk):
    benchmark, client = desk
    files = sample_files()
    del files["radio_producer/tools.yaml"]
    files["radio_producer/tasks/lost/notes.md"] = b""
    start = reverse("studio:import_start", args=[benchmark.slug])

    page = client.post(start, {"archive": zipped(files)}, follow=True).content.decode()

    assert '<a href="#warnings">2</a>' in page.partition("New: 7")[0]
    assert 'id="warnings"' in page.partition("New: 7")[2]


def test_a_refused_import_offers_to_upload_again_where_its_errors_stand(desk):
    benchmark, client = desk
    files = sample_files()
    files["radio_producer/episode.yaml"] = b"[\n"
    start = reverse("studio:import_start", args=[benchmark.slug])

    page = client.post(start, {"archive": zipped(files)}, follow=True).content.decode()

    assert "Nothing was imported." in page
    assert "Upload again" in page and f'action="{start}"' in page
