"""Editor rows by keyboard, section shortcuts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from studio.domain.task import ChecklistItem, HiddenIntent
from studio.drafts.load import load_task
from studio.models import Role, Task
from studio.tasks.save import save_task
from tests.factories import BenchmarkFactory, a_persona, a_task, member


@pytest.fixture
def desk(transactional_db, browser):
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author)
    task = a_task(persona, by=author)
    a_task(persona, "rolls", by=author, title="Rolls for Monday")
    return author, task, persona


def test_task_is_written_by_keyboard_and_nothing_is_lost_offline(desk, visit):
    author, task, _ = desk
    page = visit(author).go(task.get_absolute_url())
    press = page.keyboard.press

    page.context.set_offline(True)
    press("i")  # a new intent, and the cursor in it
    page.keyboard.type("Salt is short this week.")
    press("Alt+ArrowUp")
    expect(page.get_by_role("status").filter(has_text="Intent moved to position 1 of 2.")).to_be_attached()
    expect(page.get_by_role("group", name="Intent 1").get_by_role("textbox").first).to_be_focused()
    expect(page.locator("[data-save-status]")).to_contain_text("No connection")
    page.context.set_offline(False)
    expect(page.locator("[data-save-status]")).to_contain_text("Draft saved")
    page.locator("textarea[name$='.content']").first.focus()
    press("Control+s")

    expect(page.locator("[data-save-status]")).to_contain_text("Saved as version 2")
    spec = load_task(Task.objects.get(pk=task.pk))
    assert [intent.content for intent in spec.intents] == [
        "Salt is short this week.",
        "The rye goes in before the rolls.",
    ]
    criteria = page.locator("textarea[name$='.criterion']")
    criteria.first.focus()
    for key in ("Alt+l", "1", "Enter"):
        press(key)
    page.keyboard.type("Salt is on the list.")
    expect(criteria.nth(1)).to_have_value("Salt is on the list.")
    page.fill("#comment-text", "Which salt?")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.wait_for_selector("#comments .thread")


def test_section_shortcuts_board_keys_and_theme(desk, visit):
    author, _, persona = desk
    page = visit(author, color_scheme="light").go("/")
    press = page.keyboard.press

    press("?")
    expect(page.locator("#keys")).to_be_visible()
    press("Escape")
    with page.expect_navigation():
        press("g")
        press("b")
    expect(page).to_have_url(re.compile("/benchmarks/$"))
    page.goto(persona.get_absolute_url())
    press("j")
    expect(page.locator("#detail h1")).to_contain_text("Bread for Saturday")
    press("j")
    expect(page.locator("#detail h1")).to_contain_text("Rolls for Monday")
    press("K")  # earlier
    expect(page.locator(".card .t")).to_have_text(["Rolls for Monday", "Bread for Saturday"])
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("[data-theme-toggle]")
    page.click("[data-theme-toggle]")
    expect(page.locator("body")).not_to_have_css("background-color", background)
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_one_and_zero_reach_the_tenth_intent_and_one_alone_the_first(desk, visit):
    author, task, _ = desk
    intents = tuple(HiddenIntent(uid=f"i{number}", content=f"Wish {number}.") for number in range(1, 12))
    spec = load_task(task).model_copy(
        update={"intents": intents, "checklist": (ChecklistItem(uid="c", criterion="x"),)}
    )
    save_task(task.pk, spec, by=author)
    page = visit(author).go(task.get_absolute_url())
    page.locator("textarea[name$='.criterion']").first.focus()

    for key in ("Alt+l", "1", "0"):
        page.keyboard.press(key)

    ticked = page.locator(".links input[type=checkbox]:checked")
    expect(ticked).to_have_count(1)
    expect(ticked.first).to_have_accessible_name(re.compile("Wish 10"))
