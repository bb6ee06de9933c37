"""Brief rows of a long task, which get their inputs when they are opened."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_task
from studio.models import Task
from studio.views.tasks import editor_context

INTENT = "What they need and do not say"
CRITERION = "What must be true in the end"


@pytest.fixture
def task(radio, monkeypatch) -> Task:
    monkeypatch.setattr(editor_context, "BRIEF_ROWS_FROM", 0)
    return radio["02_briefing"]


def test_brief_item_is_opened_linked_and_moved(task, visit):
    before = load_task(task)
    page = visit("author").go(task.get_absolute_url())
    rows = page.locator("#checklist > .rows-edit > [data-row]")
    item = rows.nth(0)

    item.get_by_role("textbox").first.click()
    item.locator("summary").click()
    boxes = item.get_by_role("group", name="Intents this item tests").get_by_role("checkbox")
    expect(boxes).to_have_count(len(before.intents))
    linked = [intent.uid in before.checklist[0].follows_from for intent in before.intents]
    assert [boxes.nth(index).is_checked() for index in range(boxes.count())] == linked
    inverted = [not checked for checked in linked]
    for index, checked in enumerate(inverted):
        boxes.nth(index).set_checked(checked)
    item.get_by_label("Files or tool fields that show it").fill("briefing.md\nnotes.md")
    item.get_by_title("Later").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    after = load_task(task).checklist
    assert [item.uid for item in after[:2]] == [before.checklist[1].uid, before.checklist[0].uid]
    assert after[1].follows_from == tuple(
        intent.uid for intent, checked in zip(before.intents, inverted, strict=True) if checked
    )
    assert after[1].evidence == ("briefing.md", "notes.md")
    assert after[0] == before.checklist[1] and after[2:] == before.checklist[2:]


def test_both_halves_of_a_split_row_get_its_links_and_undo_restores_them(task, visit):
    before = load_task(task)
    index = next(
        index
        for index, intent in enumerate(before.intents)
        if any(intent.uid in item.follows_from for item in before.checklist)
    )
    followers = [at for at, item in enumerate(before.checklist) if before.intents[index].uid in item.follows_from]
    page = visit("author").go(task.get_absolute_url())
    links = page.locator("[data-linked-intents]").all_text_contents()

    def split(name: str, row: int) -> None:
        page.get_by_role("textbox", name=name).nth(row).focus()
        page.keyboard.press("Control+Home")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")

    split(INTENT, index)
    page.keyboard.press("Control+z")
    expect(page.locator("[data-linked-intents]")).to_have_text(links)
    split(INTENT, index)
    split(CRITERION, followers[0])
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    after = load_task(task)
    halves = [intent.uid for intent in after.intents[index : index + 2]]
    assert halves[0] == before.intents[index].uid and len(after.intents) == len(before.intents) + 1
    first, second = after.checklist[followers[0] : followers[0] + 2]
    assert {*halves} <= {*first.follows_from} and first.follows_from == second.follows_from
    rest = [after.checklist[at + 1].follows_from for at in followers[1:]]
    assert all({*halves} <= {*keys} for keys in rest)


def test_joined_items_have_the_links_and_evidence_of_both(task, visit):
    before = load_task(task)
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("textbox", name=CRITERION).nth(1).focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    first, second = before.checklist[:2]
    joined = load_task(task).checklist[0]
    assert {*joined.follows_from} == {*first.follows_from, *second.follows_from}
    assert {*joined.evidence} == {*first.evidence, *second.evidence}
