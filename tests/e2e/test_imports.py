"""Uploading folders and zips of personas."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.conf import settings
from playwright.sync_api import expect

from studio.models import Persona, Task

SAMPLE_DATA = Path(settings.BASE_DIR) / "fixtures" / "sample" / "data"


@pytest.fixture
def persona_folder(request: pytest.FixtureRequest) -> Path:
    """A published persona if the folder of them is there, else one of the sample."""
    try:
        return Path(request.getfixturevalue("pibench_data")) / "law_trainee"
    except pytest.skip.Exception:
        return SAMPLE_DATA / "vet_practice_manager"


@pytest.fixture
def page(sample, visit):
    page = visit("owner").go("/benchmarks/new/")
    page.get_by_role("textbox", name="Name", exact=True).fill("Elsewhere")
    page.get_by_role("textbox", name="Short name").fill("elsewhere")
    page.get_by_role("main").get_by_role("button").first.click()
    page.get_by_role("link", name="Import", exact=True).click()
    return page


@pytest.mark.everyday
def test_zip_import_is_previewed_and_stored_on_confirmation(page, persona_folder, tmp_path):
    tasks = sum(1 for _ in persona_folder.glob("tasks/*/task.yaml"))
    packed = shutil.make_archive(str(tmp_path / "persona"), "zip", persona_folder.parent, persona_folder.name)

    page.get_by_label("A zip").set_input_files(packed)
    page.get_by_label("mark as already approved").check()
    page.get_by_role("button", name="Preview import").click()

    expect(page.get_by_text("Nothing has been imported yet")).to_be_visible()
    expect(page.get_by_role("heading", name=f"New: {tasks}")).to_be_visible()
    assert not Persona.objects.filter(benchmark__name="Elsewhere").exists()

    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("status").filter(has_text="Imported:")).to_be_visible()
    stored = Task.objects.filter(persona__benchmark__name="Elsewhere")
    assert (stored.count(), set(stored.values_list("state", flat=True))) == (tasks, {"draft"})
    expect(page.get_by_text("approved elsewhere").first).to_be_visible()


def test_broken_zip_shows_locations_and_fixes_and_stores_nothing(page, tmp_path):
    broken = tmp_path / "radio_producer"
    shutil.copytree(SAMPLE_DATA / "radio_producer", broken)
    for name, wrong in (("radio_01_clock", "title: [never closed\n"), ("radio_02_briefing", "task_id: {\n")):
        (broken / "tasks" / name / "task.yaml").write_text(f"schema_version: v2\n{wrong}")
    (broken / "profile.yaml").write_text("[\n")  # or the other tasks could be imported
    packed = shutil.make_archive(str(tmp_path / "broken"), "zip", tmp_path, "radio_producer")

    page.get_by_label("A zip").set_input_files(packed)
    page.get_by_role("button", name="Preview import").click()

    expect(page.get_by_text("Nothing was imported.")).to_be_visible()
    errors = page.locator(".finding.error")
    assert errors.count() >= 2
    for name in ("radio_01_clock", "radio_02_briefing"):
        problem = errors.filter(has_text=f"tasks/{name}/task.yaml:")
        expect(problem.locator("code").first).to_contain_text("task.yaml:3:1")
        expect(problem.locator("p").first).not_to_be_empty()
    expect(page.get_by_role("button", name="Import", exact=True)).to_have_count(0)
    assert not Persona.objects.filter(benchmark__name="Elsewhere").exists()


def test_folder_upload_keeps_paths(page):
    page.get_by_label("Or a folder").set_input_files(SAMPLE_DATA / "radio_producer")
    expect(page.locator("[data-count]")).to_contain_text("files")
    page.get_by_role("button", name="Preview import").click()

    expect(page.get_by_role("heading", name="New: 7")).to_be_visible()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("status").filter(has_text="Imported:")).to_be_visible()
    assert Persona.objects.filter(benchmark__name="Elsewhere", user_id="radio_producer").count() == 1
