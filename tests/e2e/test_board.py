"""The episode board."""

from __future__ import annotations

import re

from playwright.sync_api import expect

TITLES = [
    "A reusable clock for The Long Bridge",
    "Briefing for the footbridge interview",
    "Running order for 11 March",
    "Music return for February",
    "A plan for pledge week",
    "Seven messages on the studio line",
    "Four read-outs for pledge week",
]


def test_the_board_shows_the_order_and_the_groups(sample, visit):
    page = visit("author").go("/b/sample/p/radio_producer/")

    expect(page.locator("nav.lane a.card .t")).to_have_text(TITLES)
    expect(page.locator("nav.lane svg g")).to_have_count(2)
    expect(page.locator(".legend")).to_contain_text("The Thursday clock")
    expect(page.locator(".legend")).to_contain_text("Pledge week")
    for path in page.locator("nav.lane svg path").all():
        box = path.bounding_box()
        assert box is not None and box["height"] > 5


def test_sessions_are_moved_by_keys_but_never_before_what_they_build_on(sample, radio, visit):
    page = visit("author").go("/b/sample/p/radio_producer/")
    cards = page.locator("nav.lane a.card")

    for title in TITLES[:2]:
        page.keyboard.press("j")
        expect(page.locator("#detail h1")).to_contain_text(title)
    page.keyboard.press("Shift+J")
    expect(cards.nth(2)).to_contain_text(TITLES[1])
    expect(cards.nth(2)).to_have_attribute("aria-current", "true")

    page.keyboard.press("k")
    expect(page.locator("#detail h1")).to_contain_text(TITLES[2])
    page.keyboard.press("Shift+K")
    expect(page.get_by_role("status").filter(has_text="Not moved.")).to_contain_text(
        "“radio_03_running_order” builds on “radio_01_clock” and must come after it."
    )
    expect(cards.nth(0)).to_contain_text(TITLES[0])

    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(rf"/tasks/{radio['03_running_order'].pk}/$"))
    page.wait_for_load_state()  # keys work once the page has its scripts
    page.keyboard.press("Escape")
    expect(page.locator("#detail h1")).to_contain_text(TITLES[2])
