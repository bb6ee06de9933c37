"""Single-key shortcuts: not while typing, and not for users who disabled them."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from studio.models import Task, User


def test_disabling_single_key_shortcuts_keeps_the_others(sample, visit):
    page = visit("author").go("/settings/")
    page.get_by_label("Single-key shortcuts").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Single-key shortcuts")).not_to_be_checked()

    for key in "gb?":
        page.keyboard.press(key)
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    expect(page).to_have_url(re.compile("/settings/$"))

    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog", name="Go to page")).to_be_visible()
    page.keyboard.press("Escape")

    page.goto(f"{page.url.partition('/settings')[0]}/b/sample/p/radio_producer/")
    card = page.locator("a.card").first
    card.focus()
    for key in "xmj":
        page.keyboard.press(key)
    expect(page.locator(".pick:checked")).to_have_count(0)
    expect(card).not_to_have_attribute("aria-current", "true")
    page.keyboard.press("ArrowDown")
    expect(page.locator("a.card").nth(1)).to_be_focused()


def test_disabled_single_key_shortcuts_are_not_shown(sample, radio, visit):
    User.objects.filter(username="reviewer").update(letter_keys=False)
    Task.objects.filter(pk=radio["02_briefing"].pk).update(state="in_review")
    page = visit("reviewer").go(radio["02_briefing"].get_absolute_url())

    expect(page.get_by_role("group", name="Realistic")).to_be_visible()
    expect(page.locator("#review kbd:visible")).to_have_count(0)


def test_shortcuts_do_nothing_while_typing_in_a_field(sample, radio, visit):
    page = visit("author").go(radio["03_running_order"].get_absolute_url())
    here = page.url
    before = page.locator('[data-rows="intents"] > [data-row]').count()

    page.get_by_label("What must be true in the end").first.click()
    for field in (
        page.get_by_label("Title", exact=True),
        page.locator("input.weight").first,
        page.get_by_label("Trigger"),
        page.locator("#note"),
    ):
        field.focus()
        page.keyboard.type("ik?gb")

    expect(page.locator('[data-rows="intents"] > [data-row]')).to_have_count(before)
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    expect(page).to_have_url(here)
