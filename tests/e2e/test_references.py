"""What a session leaves behind, and what a good one looks like: attached, looked at, kept, out and in again."""

from __future__ import annotations

import io
import zipfile

import pytest
from playwright.sync_api import Locator, Page, expect

from studio.drafts.load import load_task
from studio.imports.export import benchmark_files
from studio.models import Benchmark, Blob, Task
from tests.e2e.visitor import saved
from tests.studio.files.previews.samples import a_png

DROP = """([row, name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const place = row === null ? document.querySelector("#workflow .label") : document.querySelectorAll("#workflow [data-artifact]")[row];
    place.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""  # noqa: E501


@pytest.fixture
def task(radio) -> Task:
    return radio["03_running_order"]


def file(name: str, content: bytes) -> dict[str, object]:
    return {"name": name, "mimeType": "application/octet-stream", "buffer": content}


def rows(page: Page) -> Locator:
    return page.locator("#workflow [data-artifact]")


def artifacts(task: Task) -> dict[str, tuple[str, bytes | None]]:
    found = load_task(Task.objects.get(pk=task.pk)).expected_artifacts
    contents = Blob.objects.read([one.reference.sha256 for one in found if one.reference])
    return {one.path: (one.note, contents[one.reference.sha256] if one.reference else None) for one in found}


def test_a_reference_is_attached_looked_at_saved_and_there_after_an_export_and_an_import(sample, task, visit):
    page = visit("author").go(task.get_absolute_url())
    row = rows(page).first
    row.get_by_label("Reference for").set_input_files(file("good.csv", b"time,item\n10:00,News\n"))
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(row.get_by_role("cell", name="News")).to_be_visible()
    row.get_by_placeholder("what it must be").fill("The hour to the second.")
    saved(page)

    page.reload()
    row = rows(page).first
    expect(row.get_by_placeholder("what it must be")).to_have_value("The hour to the second.")
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(row.get_by_role("cell", name="News")).to_be_visible()
    kept = artifacts(task)
    assert ("The hour to the second.", b"time,item\n10:00,News\n") in kept.values()

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
    there = Task.objects.get(episode__persona__benchmark=elsewhere, task_id=task.task_id)
    assert artifacts(there) == kept
    owner.goto(there.get_absolute_url())
    rows(owner).first.get_by_role("link", name="Reference", exact=True).click()
    expect(rows(owner).first.get_by_role("cell", name="News")).to_be_visible()


def test_rows_are_added_filled_moved_bared_and_undone_by_keyboard(task, visit):
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
    saved(page)
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
    saved(page)
    assert artifacts(task)["notes/handover.md"][1] == b"# Good"


def test_dropped_files_go_to_the_row_of_their_name_and_never_into_the_workspace(task, visit):
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
    saved(page)

    assert (artifacts(task)[path][1], artifacts(task)["other.md"][1]) == (b"c,d\n", b"# Other")
    assert page.locator("#files [data-file]").count() == files


def test_the_text_of_a_reference_is_edited_in_place_and_kept(task, visit):
    window = visit("author")
    page = window.go(task.get_absolute_url())
    page.evaluate(DROP, [None, "plan.md", "# Good\n"])
    row = rows(page).last
    row.get_by_role("link", name="Reference", exact=True).click()
    row.get_by_role("button", name="Edit text").click()
    row.locator("textarea").fill("# Better\n")
    row.get_by_role("button", name="Done").click()
    expect(row.get_by_role("heading", name="Better")).to_be_visible()
    saved(page)

    assert artifacts(task)["plan.md"][1] == b"# Better\n"
    assert window.failures == []


def test_what_was_just_attached_is_offered_to_draw_items_from(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.evaluate(DROP, [None, "plan.md", "# Plan\n\nThe news begins at ten.\n"])
    expect(rows(page).last.get_by_role("link", name="Reference", exact=True)).to_be_visible()

    page.get_by_text("Propose items…").click()
    expect(page.get_by_label("From", exact=True)).to_have_value("the reference of plan.md")
    page.get_by_role("button", name="Propose items").click()

    expect(page.locator("[data-proposal]")).to_contain_text("Checklist items from the reference of plan.md")
    assert artifacts(task)["plan.md"][1] == b"# Plan\n\nThe news begins at ten.\n"  # in a version by then


def test_who_may_not_edit_looks_and_downloads(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.evaluate(DROP, [None, "chart.md", "# Chart"])
    expect(rows(page).last.get_by_role("link", name="Reference", exact=True)).to_be_visible()
    row = rows(page).last
    row.get_by_label("Reference for").set_input_files(file("chart.png", a_png()))
    expect(row.get_by_role("status")).to_contain_text("Replaced")
    saved(page)

    viewer = visit("viewer").go(task.get_absolute_url())
    row = rows(viewer).last
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(row.get_by_role("img", name="chart.md")).to_be_visible()
    expect(row.get_by_role("link", name="Download the reference")).to_be_visible()
    expect(viewer.locator("#workflow input[type=file]")).to_have_count(0)
