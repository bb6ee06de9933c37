"""Expected artifacts and their references."""

from __future__ import annotations

import io
import zipfile

import pytest
from playwright.sync_api import Locator, Page, expect

from studio.drafts.load import load_task
from studio.models import Benchmark, Blob, Task
from tests.drafts import benchmark_files
from tests.e2e.visitor import save_task
from tests.studio.files.previews.samples import a_png

DROP = """([row, name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const target = row === null ? document.querySelector("#workflow .label") : document.querySelectorAll("#workflow [data-artifact]")[row];
    target.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""  # noqa: E501


@pytest.fixture
def task(radio) -> Task:
    return radio["03_running_order"]


def file(name: str, content: bytes) -> dict[str, object]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def rows(page: Page) -> Locator:
    return page.locator("#workflow [data-artifact]")


def artifacts(task: Task) -> dict[str, tuple[str, bytes | None]]:
    stored = load_task(Task.objects.get(pk=task.pk)).expected_artifacts
    contents = Blob.objects.read([artifact.reference.sha256 for artifact in stored if artifact.reference])
    return {
        artifact.path: (artifact.note, contents[artifact.reference.sha256] if artifact.reference else None)
        for artifact in stored
    }


def test_reference_is_attached_and_survives_export_and_import(sample, task, visit):
    page = visit("author").go(task.get_absolute_url())
    row = rows(page).first
    row.get_by_label("Reference for").set_input_files(file("good.csv", b"time,item\n10:00,News\n"))
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(row.get_by_role("cell", name="News")).to_be_visible()
    row.get_by_placeholder("what it must be").fill("The hour to the second.")
    save_task(page)

    page.reload()
    row = rows(page).first
    expect(row.get_by_placeholder("what it must be")).to_have_value("The hour to the second.")
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(row.get_by_role("cell", name="News")).to_be_visible()
    before = artifacts(task)
    assert ("The hour to the second.", b"time,item\n10:00,News\n") in before.values()

    pack = io.BytesIO()
    with zipfile.ZipFile(pack, "w") as archive:
        for path, content in benchmark_files(sample).items():
            archive.writestr(path, content)
    elsewhere = Benchmark.objects.create(slug="elsewhere", name="Elsewhere")
    elsewhere.memberships.create(user=sample.created_by, role="owner")
    owner = visit("owner").go("/b/elsewhere/import/")
    owner.get_by_label("A zip").set_input_files(file("sample.zip", pack.getvalue()))
    owner.get_by_role("button", name="Preview import").click()
    owner.get_by_role("button", name="Import").click()
    expect(owner.get_by_role("status").filter(has_text="Imported:")).to_be_visible()
    imported = Task.objects.get(persona__benchmark=elsewhere, task_id=task.task_id)
    assert artifacts(imported) == before
    owner.goto(imported.get_absolute_url())
    rows(owner).first.get_by_role("link", name="Reference", exact=True).click()
    expect(rows(owner).first.get_by_role("cell", name="News")).to_be_visible()


def test_artifact_rows_are_edited_by_keyboard_with_undo(task, visit):
    page = visit("author").go(task.get_absolute_url())
    before = list(artifacts(task))
    page.get_by_role("button", name="+ file", exact=True).focus()

    page.keyboard.press("Enter")
    page.keyboard.type("notes/handover.md")
    page.keyboard.press("Tab")
    page.keyboard.type("Who does what on the day.")
    page.keyboard.press("Enter")
    page.keyboard.type("late.md")
    page.keyboard.press("Alt+ArrowUp")
    save_task(page)
    assert list(artifacts(task)) == [*before, "late.md", "notes/handover.md"]
    assert artifacts(task)["notes/handover.md"] == ("Who does what on the day.", None)

    row = rows(page).last
    row.get_by_label("Reference for").set_input_files(file("x.md", b"# Good"))
    row.get_by_role("button", name="Remove reference").focus()
    page.keyboard.press("Enter")
    expect(row.get_by_role("status")).to_have_text("Removed. Ctrl+Z restores it.")
    expect(row.get_by_label("Reference for")).to_be_focused()
    page.keyboard.press("Control+z")
    expect(row.get_by_role("link", name="Reference", exact=True)).to_be_visible()
    save_task(page)
    assert artifacts(task)["notes/handover.md"][1] == b"# Good"


def test_dropped_reference_goes_to_the_row_with_its_name_and_not_to_the_workspace(task, visit):
    page = visit("author").go(task.get_absolute_url())
    [path, *_] = artifacts(task)
    files = page.locator("#files [data-file]").count()

    page.evaluate(DROP, [None, path, "a,b\n"])
    expect(rows(page).first.get_by_role("link", name="Reference", exact=True)).to_be_visible()
    page.evaluate(DROP, [None, "other.md", "# Other"])
    expect(rows(page).last.locator('input[name$=".path"]')).to_have_value("other.md")
    expect(rows(page).last.get_by_role("link", name="Reference", exact=True)).to_be_visible()
    page.evaluate(DROP, [0, "better.csv", "c,d\n"])
    expect(rows(page).first.get_by_role("status")).to_contain_text("Replaced")
    save_task(page)

    assert (artifacts(task)[path][1], artifacts(task)["other.md"][1]) == (b"c,d\n", b"# Other")
    expect(page.locator("#files [data-file]")).to_have_count(files)


def test_reference_text_is_edited_in_place(task, visit):
    window = visit("author")
    page = window.go(task.get_absolute_url())
    page.evaluate(DROP, [None, "plan.md", "# Good\n"])
    row = rows(page).last
    row.get_by_role("link", name="Reference", exact=True).click()
    row.get_by_role("button", name="Edit text").click()
    row.locator("textarea").fill("# Better\n")
    row.get_by_role("button", name="Done").click()
    expect(row.get_by_role("heading", name="Better")).to_be_visible()
    save_task(page)

    assert artifacts(task)["plan.md"][1] == b"# Better\n"
    assert window.failures == []


def test_items_can_be_proposed_from_a_reference_just_attached(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.evaluate(DROP, [None, "plan.md", "# Plan\n\nThe news begins at ten.\n"])
    expect(rows(page).last.get_by_role("link", name="Reference", exact=True)).to_be_visible()

    page.get_by_text("Propose items…").click()
    expect(page.get_by_label("From", exact=True)).to_have_value("the reference of plan.md")
    page.get_by_role("button", name="Propose items").click()

    expect(page.locator("[data-proposal]")).to_contain_text("Checklist items from the reference of plan.md")
    assert artifacts(task)["plan.md"][1] == b"# Plan\n\nThe news begins at ten.\n"  # saved as a version for the request


def test_viewer_can_preview_and_download_references(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.evaluate(DROP, [None, "chart.md", "# Chart"])
    expect(rows(page).last.get_by_role("link", name="Reference", exact=True)).to_be_visible()
    row = rows(page).last
    row.get_by_label("Reference for").set_input_files(file("chart.png", a_png()))
    expect(row.get_by_role("status")).to_contain_text("Replaced")
    save_task(page)

    viewer = visit("viewer").go(task.get_absolute_url())
    row = rows(viewer).last
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(row.get_by_role("img", name="chart.md")).to_be_visible()
    expect(row.get_by_role("link", name="Download the reference")).to_be_visible()
    expect(viewer.locator("#workflow input[type=file]")).to_have_count(0)
