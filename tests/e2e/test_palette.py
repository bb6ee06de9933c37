"""The command palette."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect


@pytest.mark.parametrize("width", [1280, 390])
def test_palette_opens_a_task_by_keyboard(sample, radio, visit, width):
    page = visit("author", viewport={"width": width, "height": 844}).go("/")

    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search pages and actions")
    expect(field).to_be_focused()
    expect(page.get_by_role("option", selected=True)).to_have_count(1)

    page.keyboard.type("02_brief")
    first = page.get_by_role("option").first
    expect(first).to_contain_text(str(radio["02_briefing"]))
    expect(first).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", first.get_attribute("id"))
    page.keyboard.press("Enter")

    page.wait_for_url(f"**{radio['02_briefing'].get_absolute_url()}")


@pytest.mark.everyday
def test_palette_reaches_sections_actions_and_search_and_escape_restores_the_focus(sample, visit):
    page = visit("author").go("/b/sample/")
    persona = page.get_by_role("link", name="New persona")
    persona.focus()

    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Go to page")).to_be_hidden()
    expect(persona).to_be_focused()

    page.keyboard.press("Control+k")
    page.keyboard.type("new pers")
    page.keyboard.press("Enter")
    page.wait_for_url("**/personas/new/")

    page.keyboard.press("Control+k")
    page.keyboard.type("audi")
    page.keyboard.press("Enter")
    page.wait_for_url("**/audits/")

    page.keyboard.press("Control+k")
    page.keyboard.type("seconds")
    expect(page.get_by_role("option").last).to_contain_text("Search everything for “seconds”")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/?q=seconds")
    expect(page.locator("mark.hit").first).to_be_visible()


def test_palette_button_is_a_search_link_without_scripts(sample, visit):
    page = visit("author").go("/")
    page.get_by_role("link", name="Go to page or search").click()
    expect(page.get_by_role("dialog", name="Go to page")).to_be_visible()

    plain = visit("author", java_script_enabled=False).go("/")
    plain.get_by_role("link", name="Go to page or search").click()
    expect(plain.get_by_role("searchbox", name="Search for")).to_be_visible()
