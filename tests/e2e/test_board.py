"""The episode board by mouse, keyboard and touch, and with two users at once."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

TITLES = [
    "A reusable clock for The Long Bridge",
    "Briefing for the footbridge interview",
    "Running order for 11 March",
    "Music return for February",
    "A plan for pledge week",
    "Seven messages on the studio line",
    "Four read-outs for pledge week",
]
BOARD = "/b/sample/p/radio_producer/"


def titles(page: Page) -> Locator:
    return page.locator(".lane a.card .t")


def order(*numbers: int) -> list[str]:
    return [TITLES[number - 1] for number in numbers]


def card(page: Page, number: int) -> Locator:
    return page.locator(".task", has_text=TITLES[number - 1]).locator("a.card")


def drag(page: Page, source: Locator, target: Locator, *, x: float = 0.5, y: float = 0.5) -> None:
    """Drag in steps, as a hand does."""
    start = source.bounding_box()
    assert start is not None
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + 30, start["y"] + 30, steps=3)
    goal = target.bounding_box()  # some targets appear only while something is dragged
    assert goal is not None
    page.mouse.move(goal["x"] + goal["width"] * x, goal["y"] + goal["height"] * y, steps=6)
    page.mouse.up()


def test_titles_of_the_board_have_the_width_beside_the_arcs(sample, visit):
    page = visit("author").go(BOARD)
    page.set_viewport_size({"width": 1280, "height": 800})

    lane, title = page.locator(".lane").bounding_box(), titles(page).first.bounding_box()

    assert lane is not None and title is not None
    assert title["width"] > 0.7 * lane["width"]


def test_board_shows_tasks_in_order_and_what_each_arc_carries_over(sample, visit):
    page = visit("author").go(BOARD)

    expect(titles(page)).to_have_text(TITLES)
    carried = page.locator(".lane .carry")
    expect(carried).to_have_count(2)
    expect(carried.nth(0)).to_contain_text("01 → 03 The fixed points of every programme")
    expect(page.locator(".groups")).to_contain_text("The Thursday clock")
    expect(page.locator(".groups")).to_contain_text("Pledge week")
    for text in carried.all():
        box, slot = text.bounding_box(), text.locator("..").bounding_box()
        assert box is not None and slot is not None
        assert box["height"] >= 16
        assert box["y"] + box["height"] <= slot["y"] + slot["height"] + 1  # no two texts overlap


@pytest.mark.everyday
def test_dragged_card_moves_and_the_move_can_be_undone(sample, visit):
    page = visit("author").go(BOARD)

    drag(page, page.locator(".task", has_text=TITLES[3]).locator(".grip"), card(page, 2), y=0.1)
    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 6, 7))
    expect(page.locator("#board-status")).to_contain_text("Now at position 2 of 7.")
    expect(card(page, 4)).to_be_focused()
    drag(page, card(page, 6), page.locator(".tray"))
    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 7))
    expect(page.locator(".tray a.card .t")).to_have_text([TITLES[5]])

    page.keyboard.press("Control+z")
    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 6, 7))
    page.keyboard.press("Control+z")
    expect(titles(page)).to_have_text(TITLES)
    page.keyboard.press("Control+Shift+z")
    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 6, 7))


def test_drag_that_breaks_a_dependency_is_refused_beside_the_card(sample, visit):
    page = visit("author").go(BOARD)

    drag(page, card(page, 3), card(page, 1), y=0.1)

    refusal = page.locator(".task", has_text=TITLES[2]).get_by_role("alert")
    expect(refusal).to_contain_text(f"“{TITLES[2]}” builds on “{TITLES[0]}” (The fixed points")
    expect(refusal).to_contain_text("must come after it")
    expect(titles(page)).to_have_text(TITLES)


def test_cards_are_dragged_into_existing_and_new_groups(sample, radio, visit):
    page = visit("author").go(BOARD)

    drag(page, card(page, 2), page.locator(".task", has_text=TITLES[2]).locator(".slot").first, x=0.8)
    expect(page.locator(".groups li").first).to_contain_text("01 02 03")
    drag(page, card(page, 4), page.locator("[data-drop-group='Pledge week']"))
    expect(page.locator(".groups li").nth(1)).to_contain_text("04 05 07")

    drag(page, card(page, 6), page.locator("[data-drop-new]"))
    expect(page.get_by_label("Group, existing or new")).to_be_focused()
    page.keyboard.type("Phones")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".groups")).to_contain_text("Phones")
    drag(page, card(page, 6), page.locator("[data-drop-group='']"))
    expect(page.locator(".groups")).not_to_contain_text("Phones")


def test_tasks_are_moved_by_keyboard_but_not_before_their_dependencies(sample, visit):
    page = visit("author").go(BOARD)
    status = page.locator("#board-status")

    card(page, 4).focus()
    page.keyboard.press("Space")
    expect(status).to_contain_text("Picked up")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(status).to_have_text(f"Before “02 {TITLES[1]}”, position 2.")
    page.keyboard.press("Escape")
    expect(status).to_have_text("Put back.")
    expect(titles(page)).to_have_text(TITLES)
    expect(card(page, 4)).to_be_focused()

    page.keyboard.press("Space")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(titles(page)).to_have_text(order(4, 1, 2, 3, 5, 6, 7))
    expect(card(page, 4)).to_be_focused()
    expect(status).to_contain_text("Now at position 1 of 7.")
    page.keyboard.press("Alt+ArrowDown")
    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 6, 7))

    card(page, 3).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("must come after it")
    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 6, 7))


def test_several_tasks_are_selected_and_grouped_by_keyboard(sample, visit):
    page = visit("author").go(BOARD)

    card(page, 2).focus()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator("[data-count]")).to_have_text("3 selected")
    page.keyboard.press("m")
    page.keyboard.type("Interviews")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".groups")).to_contain_text("Interviews")
    page.keyboard.press("u")
    expect(page.locator(".groups")).not_to_contain_text("Interviews")

    card(page, 6).click(modifiers=["Control"])
    card(page, 4).click(modifiers=["Control"])
    expect(page.locator("[data-count]")).to_have_text("2 selected")
    drag(page, card(page, 6), card(page, 1), y=0.1)
    expect(titles(page)).to_have_text(order(4, 6, 1, 2, 3, 5, 7))


def test_single_keys_select_and_move_tasks(sample, radio, visit):
    page = visit("author").go(BOARD)

    for number, title in enumerate(TITLES[:2], 1):
        page.keyboard.press("j")
        expect(page.locator("#detail h1")).to_contain_text(title)
        expect(card(page, number)).to_be_focused()
    for key in ("Space", "ArrowDown", "Space"):
        page.keyboard.press(key)
    expect(titles(page)).to_have_text(order(1, 3, 2, 4, 5, 6, 7))
    page.keyboard.press("Shift+K")
    expect(titles(page)).to_have_text(order(1, 2, 3, 4, 5, 6, 7))
    page.keyboard.press("Shift+J")
    expect(titles(page)).to_have_text(order(1, 3, 2, 4, 5, 6, 7))
    expect(card(page, 2)).to_have_attribute("aria-current", "true")
    page.keyboard.press("k")
    expect(page.locator("#detail h1")).to_contain_text(TITLES[2])

    page.keyboard.press("o")
    expect(page).to_have_url(re.compile(rf"/tasks/{radio['03_running_order'].pk}/$"))
    page.wait_for_load_state()  # keys work once the page has its scripts
    page.keyboard.press("Escape")
    expect(page.locator("#detail h1")).to_contain_text(TITLES[2])


PRESS_J = "queueMicrotask(() => document.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', bubbles: true})))"


@pytest.mark.parametrize("moment", ["htmx:beforeSend", "htmx:afterSwap"])
def test_key_pressed_before_the_board_has_settled_takes_effect_after_it(sample, visit, moment):
    page = visit("author").go(BOARD)
    page.evaluate(f"document.same = true; document.addEventListener('{moment}', () => {PRESS_J}, {{once: true}})")

    page.keyboard.press("j")

    expect(page.locator("#detail h1")).to_contain_text(TITLES[1])
    expect(card(page, 2)).to_be_focused()
    assert page.evaluate("document.same")


def test_carry_over_is_edited_and_a_dependency_removed_in_the_detail_pane(sample, visit):
    page = visit("author").go(BOARD)

    page.locator(".carry").first.click()
    carry_over = page.get_by_label(f"from 01 {TITLES[0]}")
    carry_over.fill("Only the limits")
    page.locator("#needs").get_by_role("button", name="Save").click()
    expect(page.locator(".carry").first).to_have_text("01 → 03 Only the limits")
    page.get_by_role("button", name="Remove this dependency").click()
    expect(page.locator(".carry")).to_have_count(1)


def test_move_on_an_outdated_board_is_not_applied_and_shows_the_new_order(sample, visit):
    first, second = visit("author").go(BOARD), visit("owner").go(BOARD)

    drag(first, card(first, 4), card(first, 1), y=0.1)
    expect(titles(first)).to_have_text(order(4, 1, 2, 3, 5, 6, 7))
    drag(second, card(second, 6), card(second, 1), y=0.1)

    expect(second.get_by_role("alert")).to_contain_text("Your change was not applied")
    expect(titles(second)).to_have_text(order(4, 1, 2, 3, 5, 6, 7))
    drag(second, card(second, 6), card(second, 1), y=0.1)
    expect(titles(second)).to_have_text(order(4, 6, 1, 2, 3, 5, 7))


def test_tasks_are_moved_and_grouped_without_scripts(sample, visit):
    page = visit("author", java_script_enabled=False).go(BOARD)

    page.get_by_label(f"Select {TITLES[3]}").check()
    page.get_by_label("Destination").select_option(label=f"before 01 {TITLES[0]}")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(titles(page)).to_have_text(order(4, 1, 2, 3, 5, 6, 7))
    page.get_by_label(f"Select {TITLES[2]}").check()
    page.get_by_label("Destination").select_option(label=f"before 02 {TITLES[0]}")
    page.get_by_role("button", name="Move", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("must come after it")
    page.get_by_label(f"Select {TITLES[5]}").check()
    page.get_by_label("Group, existing or new").fill("Phones")
    page.get_by_role("button", name="Add to group").click()
    expect(page.locator(".groups")).to_contain_text("Phones")


def test_board_fits_a_narrow_window(sample, visit):
    page = visit("author", viewport={"width": 390, "height": 844}).go(BOARD)

    expect(titles(page)).to_have_text(TITLES)
    expect(page.locator(".carry").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_card_is_dragged_by_touch_on_its_handle(sample, visit):
    page = visit(
        "author", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    ).go(BOARD)  # fmt: skip
    grip, goal = (page.locator(".task", has_text=TITLES[index]).locator(".grip") for index in (3, 1))
    goal.scroll_into_view_if_needed()
    page.evaluate("scrollBy(0, 200)")
    start, end = grip.bounding_box(), goal.bounding_box()
    assert start is not None and end is not None
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *point: float) -> None:
        points = [{"x": point[0], "y": point[1]}] if point else []
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    x, y = start["x"] + start["width"] / 2, start["y"] + start["height"] / 2
    touch("touchStart", x, y)
    for step in range(1, 9):
        touch("touchMove", x, y + (end["y"] + 4 - y) * step / 8)
    touch("touchEnd")

    expect(titles(page)).to_have_text(order(1, 4, 2, 3, 5, 6, 7))
