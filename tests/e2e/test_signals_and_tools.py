"""The signal that starts a task, and picking tools and skills."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_episode, load_task
from studio.models import Task
from tests.e2e.visitor import save_task


@pytest.fixture
def task(radio) -> Task:
    return radio["03_running_order"]


def test_signal_is_edited_as_fields_and_json_with_the_first_message_shown(task, visit):
    page = visit("author").go(task.get_absolute_url())
    page.get_by_role("combobox", name="Trigger").select_option("feed")
    page.get_by_role("combobox", name="Start from an example").select_option(label="Unread mail")

    page.get_by_role("button", name="Insert").click()
    first_message = page.locator("[data-opening]")
    expect(first_message).to_contain_text("[Environment signal: feed]")
    expect(first_message).to_contain_text("Ines Calder")
    page.get_by_role("button", name="JSON").click()
    text = page.get_by_role("textbox", name="The signal as JSON")
    text.fill('{"feed": "Inbox",\n "entries": }')
    expect(page.locator("#request").get_by_text("Line 2, column 13")).to_be_visible()
    page.get_by_role("button", name="Fields", exact=True).click()
    expect(text).to_be_visible()
    text.fill('{"feed": "Inbox",\n "count": 3}')
    expect(first_message).to_contain_text('"count": 3')
    page.get_by_role("button", name="Fields", exact=True).click()
    expect(page.locator("#request [data-row]")).to_have_count(2)
    save_task(page)

    trigger = load_task(Task.objects.get(pk=task.pk)).trigger
    assert (trigger.kind, trigger.payload) == ("feed", {"feed": "Inbox", "count": 3})


def test_tools_are_picked_by_keyboard_and_a_skill_is_read(task, visit):
    page = visit("author").go(task.get_absolute_url())
    picker = page.locator('[data-picker="tools"]')
    if not picker.evaluate("picker => picker.open"):
        picker.locator("summary").first.press("Enter")

    filter_box = picker.get_by_role("searchbox")
    filter_box.fill("list dir")
    expect(picker.locator("[data-picker-row]:visible")).to_have_count(1)
    filter_box.press("ArrowDown")
    checked = page.locator('input[value="list_dir"]').is_checked()
    page.keyboard.press("Space")
    expect(page.locator('input[value="list_dir"]')).to_be_checked(checked=not checked)
    page.keyboard.press("ArrowUp")
    expect(filter_box).to_be_focused()
    skills = page.locator('[data-picker="skills"]')
    if not skills.evaluate("picker => picker.open"):
        skills.locator("summary").first.click()
    skills.get_by_text("Read", exact=True).first.click()

    expect(skills.get_by_role("heading")).to_have_text("Script timing")
    expect(page).to_have_url(page.url)


def test_all_tools_of_an_application_or_only_filtered_ones_are_picked(task, visit):
    persona = task.persona
    before = set(load_task(task).tools or ())
    names = ["mail__send_reply", "mail__show_inbox", "phone__call"]
    spec = load_episode(persona, with_tasks=False).persona
    persona.set_spec(spec.model_copy(update={"tools": (*spec.tools, *names)}))
    persona.save()
    page = visit("author").go(task.get_absolute_url())
    picker = page.locator('[data-picker="tools"]')
    if not picker.evaluate("picker => picker.open"):
        picker.locator("summary").first.press("Enter")
    picked = picker.locator("label", has_text="mail__").get_by_role("checkbox", checked=True)

    picker.get_by_role("button", name="Pick all of mail").press("Enter")
    expect(picked).to_have_count(2)
    picker.get_by_role("button", name="Pick none of mail").press("Enter")
    expect(picked).to_have_count(0)
    picker.get_by_role("searchbox").fill("inbox")
    expect(picker.locator("[data-picker-domain]:visible")).to_have_count(1)
    picker.get_by_role("button", name="Pick these of mail").press("Enter")
    expect(picked).to_have_count(1)
    save_task(page)

    assert set(load_task(Task.objects.get(pk=task.pk)).tools) - {"mail__show_inbox"} == before
