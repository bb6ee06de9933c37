"""The page of a long task: what its rows fold away comes when it is asked for."""

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
    monkeypatch.setattr(editor_context, "MANY", 0)
    return radio["02_briefing"]


def test_an_item_is_opened_linked_and_moved(task, visit):
    before = load_task(task)
    page = visit("author").go(task.get_absolute_url())
    rows = page.locator("#checklist > .rows-edit > [data-row]")
    item = rows.nth(0)

    item.locator("summary").click()
    boxes = item.get_by_role("group", name="Intents this item tests").get_by_role("checkbox")
    expect(boxes).to_have_count(len(before.intents))
    kept = [one.uid in before.checklist[0].follows_from for one in before.intents]
    assert [boxes.nth(at).is_checked() for at in range(boxes.count())] == kept
    wanted = [not one for one in kept]
    for at, ticked in enumerate(wanted):
        boxes.nth(at).set_checked(ticked)
    item.get_by_label("Files or tool fields that show it").fill("briefing.md\nnotes.md")
    item.get_by_title("Later").click()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    after = load_task(task).checklist
    assert [one.uid for one in after[:2]] == [before.checklist[1].uid, before.checklist[0].uid]
    assert after[1].follows_from == tuple(one.uid for one, ticked in zip(before.intents, wanted, strict=True) if ticked)
    assert after[1].evidence == ("briefing.md", "notes.md")
    assert after[0] == before.checklist[1] and after[2:] == before.checklist[2:]


def test_halves_of_what_is_split_follow_alike_and_undo_takes_it_back(task, visit):
    before = load_task(task)
    place = next(
        at for at, one in enumerate(before.intents) if any(one.uid in k.follows_from for k in before.checklist)
    )
    followers = [at for at, one in enumerate(before.checklist) if before.intents[place].uid in one.follows_from]
    page = visit("author").go(task.get_absolute_url())
    told = page.locator("[data-linked-intents]").all_text_contents()

    def split(name: str, row: int) -> None:
        page.get_by_role("textbox", name=name).nth(row).focus()
        page.keyboard.press("Control+Home")
        for _ in range(4):
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")

    split(INTENT, place)
    page.keyboard.press("Control+z")
    assert page.locator("[data-linked-intents]").all_text_contents() == told
    split(INTENT, place)
    split(CRITERION, followers[0])
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    after = load_task(task)
    halves = [one.uid for one in after.intents[place : place + 2]]
    assert halves[0] == before.intents[place].uid and len(after.intents) == len(before.intents) + 1
    first, second = after.checklist[followers[0] : followers[0] + 2]
    assert {*halves} <= {*first.follows_from} and first.follows_from == second.follows_from
    rest = [after.checklist[at + 1].follows_from for at in followers[1:]]
    assert all({*halves} <= {*keys} for keys in rest)


def test_joined_items_follow_from_what_either_did(task, visit):
    before = load_task(task)
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("textbox", name=CRITERION).nth(1).focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    one, other = before.checklist[:2]
    joined = load_task(task).checklist[0]
    assert {*joined.follows_from} == {*one.follows_from, *other.follows_from}
    assert {*joined.evidence} == {*one.evidence, *other.evidence}
