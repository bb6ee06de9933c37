"""Reaching everything by keyboard, with a visible focus."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.builders import a_finished_pilot

REACHABLE = """() => {
    const wanted = "a[href], button, input:not([type=hidden]), select, textarea, summary";
    const seen = (one) => one.checkVisibility({visibilityProperty: true}) && !one.disabled && one.tabIndex >= 0
        && !one.closest("fieldset[disabled], [inert]") && one.getClientRects().length;
    const controls = [...document.querySelectorAll(wanted)].filter(seen);
    const radios = new Set();
    const chosen = (one) => document.querySelector(`input[type=radio][name="${one.name}"]:checked`) ?? one;
    const stops = (one) => one.type !== "radio" || one === chosen(one) && !radios.has(one.name) && radios.add(one.name);
    window.waiting = new Set(controls.filter(stops));
    const dates = controls.filter((one) => one.type === "date").length;  // day, month, year and calendar: four stops
    return window.waiting.size + 3 * dates;
}"""
WHERE = """() => {
    const one = document.activeElement;
    if (one === document.body) return null;
    window.waiting.delete(one);
    const box = (one.type === "file" && one.labels[0] || one).getBoundingClientRect();
    const drawn = (part) => {
        const style = part && getComputedStyle(part);
        const outlined = style && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
        return style && (outlined || style.boxShadow !== "none");
    };
    const box_of = one.matches("[type=checkbox], [type=radio]") && one.closest("label");
    const label = one.type === "file" ? one.labels[0] : box_of;
    const shown = drawn(one) || drawn(one.parentElement) || drawn(label);
    const inside = box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight;
    return {name: one.outerHTML.slice(0, 120), shown: Boolean(shown && inside)};
}"""


def walk(page: Page) -> list[str]:
    """Press Tab through the page; return controls that were not reached or whose focus is not visible."""
    problems = []
    page.wait_for_load_state("networkidle")  # initial requests may replace parts of the page
    for _ in range(3 * page.evaluate(REACHABLE)):  # more come into sight on the way: the settings of rows
        page.keyboard.press("Tab")
        focused = page.evaluate(WHERE)
        if focused is None:
            break
        if not focused["shown"]:
            problems.append(f"focus not seen: {focused['name']}")
    return problems + page.evaluate(
        "() => [...window.waiting].map((one) => 'not reached: ' + one.outerHTML.slice(0, 120))"
    )


def test_tab_reaches_every_control_of_a_task_with_a_visible_focus(radio, visit):
    page = visit("owner").go(radio["04_music_return"].get_absolute_url())

    assert walk(page) == []


@pytest.mark.minutes
@pytest.mark.parametrize("width", [1280, 390])
def test_tab_reaches_every_control_with_a_visible_focus(sample, radio, visit, width):
    pilot = a_finished_pilot(sample, "radio_04_music_return")
    window = visit("owner", viewport={"width": width, "height": 844})
    problems = {}
    for path in (
        "/",
        "/b/sample/",
        f"/b/sample/p/radio_producer/?task={radio['03_running_order'].pk}",
        radio["04_music_return"].get_absolute_url(),
        "/benchmarks/sample/pilots/new/",
        pilot.get_absolute_url(),
        f"/sessions/{pilot.runs.first().sessions.first().pk}/",
        f"/audits/new/?benchmark=sample&pilot={pilot.pk}",
        "/benchmarks/sample/releases/",
    ):
        page = window.go(path)
        page.evaluate("document.querySelectorAll('details.menu').forEach((one) => one.open = false)")
        if failures := walk(page):
            problems[path] = failures[:6]
    assert problems == {}, "\n".join(f"{name}: {row}" for name, rows in problems.items() for row in rows)


def test_first_tab_is_a_link_that_skips_the_navigation(sample, visit):
    page = visit("author").go("/b/sample/")

    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_every_page_lists_its_shortcuts(sample, radio, visit):
    page = visit("owner").page
    for path, key in (
        ("/b/sample/", "New persona"),
        ("/b/sample/p/radio_producer/", "First task"),
        (radio["02_briefing"].get_absolute_url(), "Submit for review"),
        ("/audits/", "Audits"),
    ):
        page.goto(path)
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keyboard shortcuts")
        expect(keys.get_by_text(key, exact=True)).to_be_visible()
        page.keyboard.press("Escape")
        expect(keys).to_be_hidden()
