"""Findings in the editor: stepping through, one-click fixes, dismissals."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_task
from studio.models import Task, Waiver
from studio.tasks.save import save_task

TITLE = "Title"


@pytest.fixture
def task(radio) -> Task:
    return radio["02_briefing"]


def open_editor(visit, task: Task):
    page = visit("author").go(task.get_absolute_url())
    expect(page.locator("html[data-checked]")).to_be_attached()
    return page


VALUES = "row => [...row.querySelectorAll('select, input:not([type=hidden])')].map(one => one.value).join('|')"


def sources(page, row: int) -> list[str]:
    """The values of an intent's source rows."""
    rows = page.locator("#intents > .rows-edit > [data-row]").nth(row).locator(".sub [data-row]")
    return [row.evaluate(VALUES) for row in rows.all()]


def test_one_click_fix_can_be_undone(task, visit):
    page = open_editor(visit, task)
    scopes = page.locator("#intents select[name$='.scope']")
    before = scopes.evaluate_all("all => all.map(one => one.value)")
    assert before[0] == "persistent"

    page.get_by_role("button", name="Set scope to this session only").click()
    expect(scopes.first).to_have_value("session_local")
    expect(page.get_by_role("button", name="Set scope to this session only")).to_have_count(0)
    page.keyboard.press("Control+z")

    expect(scopes.first).to_have_value("persistent")
    assert scopes.evaluate_all("all => all.map(one => one.value)") == before


def test_finding_is_dismissed_and_restored_without_losing_unsaved_text(task, visit):
    page = open_editor(visit, task)
    title = page.locator("textarea[name=title]")
    title.fill("A briefing on the footbridge")
    pane = page.locator("[data-live=findings]")
    finding = pane.locator("[data-finding]").filter(has_text="persistent")

    finding.locator("summary").click()
    finding.get_by_role("textbox").fill("They last: she says so every week.")
    finding.get_by_role("button", name="Dismiss").click()

    expect(pane.get_by_text("1 dismissed")).to_be_visible()
    expect(finding).to_have_count(0)
    expect(title).to_have_value("A briefing on the footbridge")
    assert Waiver.objects.get(task=task).reason == "They last: she says so every week."
    pane.get_by_text("Dismissed.").get_by_role("button", name="Undo dismissal").click()
    expect(finding).to_have_count(1)
    expect(pane.get_by_text("Dismissed.")).to_have_count(0)
    finding.locator("summary").click()
    finding.get_by_role("button", name="This is wrong").click()
    expect(pane.get_by_text("Dismissed.")).to_be_visible()
    pane.get_by_text("1 dismissed").click()
    pane.locator(".waived").get_by_role("button", name="Undo dismissal").click()
    expect(finding).to_have_count(1)
    assert not Waiver.objects.filter(task=task).exists()


def test_all_places_of_a_finding_are_dismissed_and_the_focus_goes_to_the_next(task, visit):
    page = open_editor(visit, task)
    for criterion in page.locator("textarea[name$='.criterion']").all()[:3]:
        criterion.fill("Is the sheet good?")
    pane = page.locator("[data-live=findings]")
    finding = pane.locator("[data-finding]").filter(has_text="3 places")
    expect(finding).not_to_have_count(0)
    before = pane.locator("[data-finding]").count()

    finding.first.locator("summary").press("Enter")
    finding.first.get_by_role("button", name="This is wrong").press("Enter")

    expect(pane.locator("[data-finding]")).to_have_count(before - 1)
    assert Waiver.objects.filter(task=task).count() == 3
    assert page.evaluate("document.activeElement.closest('[data-finding]') !== null")


def test_keys_step_through_findings_and_the_outline_counts_them(task, visit):
    page = open_editor(visit, task)
    page.locator("textarea[name=title]").fill("")
    marked = page.locator(".outline [data-part=about] [data-finding-count]")
    expect(marked).to_have_text("1")
    expect(marked).to_have_class("push finding-count warning")
    page.keyboard.press("Escape")

    page.keyboard.press("n")
    first = page.locator("[data-finding][data-current]").get_attribute("data-finding")
    page.keyboard.press("n")
    second = page.locator("[data-finding][data-current]").get_attribute("data-finding")
    page.keyboard.press("N")

    assert first != second
    expect(page.locator("[data-finding][data-current]")).to_have_attribute("data-finding", first)
    page.keyboard.press("Enter")
    expect(page.locator("textarea:focus, input:focus, select:focus")).to_have_count(1)


def test_joined_intents_have_the_sources_of_both(task, visit):
    page = open_editor(visit, task)
    first, second = sources(page, 0), sources(page, 1)
    assert first and second and first != second

    page.locator("#intents > .rows-edit > [data-row] .area > textarea").nth(1).focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Backspace")
    assert sources(page, 0) == [*first, *(source for source in second if source not in first)]

    page.keyboard.press("Control+z")
    assert (sources(page, 0), sources(page, 1)) == (first, second)


def test_a_long_name_of_a_file_does_not_widen_the_list_of_findings_on_a_phone(radio, visit):
    task = radio["02_briefing"]
    path = "data/radio_producer/scripts/a_grader_that_nobody_has_written_for_the_briefing_yet.py"
    save_task(task.pk, load_task(task).model_copy(update={"grader_script": path}), by=task.last_author)
    page = visit("author", viewport={"width": 390, "height": 800}).go("/b/sample/findings/")

    expect(page.get_by_text("nobody_has_written").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 390
