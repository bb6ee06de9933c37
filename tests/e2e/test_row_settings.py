"""Intents and items show their text, and the settings of the row one works in."""

from __future__ import annotations

from playwright.sync_api import expect

from studio.drafts.load import load_task
from studio.imports.importer import import_path
from studio.models import Task


def test_settings_show_in_the_row_one_works_in_and_elsewhere_where_they_are_not_as_usual(radio, visit):
    task = radio["03_running_order"]
    spec = load_task(task)
    page = visit("author").go(task.get_absolute_url())
    intents = page.locator("#intents > .rows-edit > [data-row]")
    items = page.locator("#checklist > .rows-edit > [data-row]")

    for index, intent in enumerate(spec.intents):
        expect(intents.nth(index).get_by_label("Scope")).to_be_visible(visible=intent.scope == "persistent")
    for index, item in enumerate(spec.checklist):
        expect(items.nth(index).get_by_label("Grader")).to_be_visible(visible=item.grader == "rule")
        expect(items.nth(index).get_by_label("weight")).to_be_visible(visible=item.weight != 1)
    items.first.get_by_role("textbox").first.click()
    expect(items.first.get_by_label("Grader")).to_be_visible()
    expect(items.first.get_by_label("weight")).to_be_visible()
    items.first.get_by_label("weight").fill("2")
    items.nth(1).get_by_role("textbox").first.click()

    expect(items.nth(1).get_by_label("Grader")).to_be_visible()
    expect(items.first.get_by_label("weight")).to_be_visible()
    expect(items.first.get_by_role("button", name="Remove")).to_be_hidden()


def test_a_row_that_is_clicked_stays_where_it_is_on_the_screen(radio, visit):
    page = visit("author").go(radio["03_running_order"].get_absolute_url())
    items = page.locator("#checklist > .rows-edit > [data-row]")
    items.first.get_by_role("textbox").first.click()
    lower = items.nth(2).get_by_role("textbox").first
    lower.scroll_into_view_if_needed()
    before = lower.bounding_box()

    lower.click()

    expect(items.nth(2)).to_have_class("edit-row tucked open")
    assert abs(lower.bounding_box()["y"] - before["y"]) < 2


def test_parts_that_a_task_leaves_as_they_are_open_from_the_outline_and_by_key(radio, visit):
    page = visit("author").go(radio["04_music_return"].get_absolute_url())
    category = page.get_by_label("Category")
    expect(category).to_be_hidden()

    page.get_by_role("navigation", name="Sections of the task").get_by_role("link", name="Details").click()

    expect(category).to_be_visible()
    page.evaluate("document.querySelector('#workflow > details').open = false")
    page.keyboard.press("o")
    expect(page.get_by_label("Output file").last).to_be_focused()


def test_a_press_whose_end_a_list_of_choices_swallowed_ends_with_the_next_key(radio, visit):
    page = visit("author").go(radio["03_running_order"].get_absolute_url())
    items = page.locator("#checklist > .rows-edit > [data-row]")
    items.first.get_by_role("textbox").first.dispatch_event("pointerdown")
    items.nth(1).get_by_role("textbox").first.focus()
    expect(items.nth(1).get_by_label("Grader")).to_be_hidden()

    page.keyboard.press("End")

    expect(items.nth(1).get_by_label("Grader")).to_be_visible()


def test_a_real_task_of_nine_intents_and_nineteen_items_is_short(sample, visit, pibench_data):
    import_path(sample, pibench_data / "law_trainee", by=sample.created_by)
    task = Task.objects.get(task_id="law_trainee_task_007")
    spec = load_task(task)
    assert (len(spec.intents), len(spec.checklist)) == (9, 19)

    page = visit("author").go(task.get_absolute_url())

    for width, most in ((1280, 3_600), (390, 7_500)):
        page.set_viewport_size({"width": width, "height": 800})
        page.reload()  # where there is room, findings are in the pane, else beside what they are about
        expect(page.locator("html[data-checked]")).to_be_attached()
        assert page.evaluate("document.documentElement.scrollHeight") <= most
