"""The list of all tasks of a benchmark."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_the_list_follows_what_is_typed_and_chosen_without_a_button(radio, visit):
    page = visit("author").go("/b/sample/tasks/")
    rows = page.locator("#listed tbody tr")
    before = rows.count()

    page.get_by_role("searchbox", name="Text").fill("briefing")

    expect(page).to_have_url(re.compile("q=briefing"))
    assert before > 1
    expect(rows).to_have_count(1)
    expect(page.get_by_role("searchbox", name="Text")).to_be_focused()

    page.get_by_role("link", name="Show all").click()
    page.get_by_label("State").select_option("Released")
    expect(page.get_by_role("heading", name="No matching tasks")).to_be_visible()


def test_a_row_of_the_list_takes_one_line(radio, visit):
    page = visit("author").go("/b/sample/tasks/")
    page.set_viewport_size({"width": 1280, "height": 800})

    assert max(row.bounding_box()["height"] for row in page.locator("#listed tbody tr").all()) <= 36
    page.set_viewport_size({"width": 390, "height": 800})
    assert max(row.bounding_box()["height"] for row in page.locator("#listed tbody tr").all()) <= 150
