"""The task editor."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.domain.task import TaskSpec
from studio.models import Task
from studio.views.tasks import editor_context

REQUEST = "Request"
INTENT = "What they need and do not say"
CRITERION = "What must be true in the end"


@pytest.fixture
def task(radio) -> Task:
    return radio["02_briefing"]


def spec_of(task: Task) -> TaskSpec:
    return TaskSpec.model_validate(task.revisions.order_by("-number").first().spec)


def save(page) -> None:
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved")).to_be_visible()
    page.wait_for_load_state()  # keys work once the page has its scripts


def test_a_change_of_everything_is_one_more_version(task, visit):
    before = spec_of(task)
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("textbox", name=REQUEST).fill("Please write the briefing for Thursday.")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.keyboard.type("The council's spokesman is not quoted.")
    page.locator("#intents > .rows-edit > [data-row]").nth(1).get_by_role("button", name="Remove").last.click()
    page.get_by_role("button", name="+ item").click()
    page.keyboard.type("The briefing fits on one page.")
    page.locator("#checklist > .rows-edit > [data-row]").nth(0).get_by_role("button", name="Remove").last.click()
    expect(page.locator("[data-save-status]")).to_contain_text("v1")  # kept meanwhile; no version yet
    save(page)

    after = spec_of(task)
    assert task.revisions.count() == 2
    assert after.initial_request == "Please write the briefing for Thursday."
    kept = [one.content for one in before.intents]
    assert [one.content for one in after.intents] == [kept[0], *kept[2:], "The council's spokesman is not quoted."]
    assert [one.criterion for one in after.checklist] == [
        *(one.criterion for one in before.checklist[1:]),
        "The briefing fits on one page.",
    ]
    assert after.intents[0].uid == before.intents[0].uid and after.intents[1].uid == before.intents[2].uid


def test_in_a_long_list_an_item_gets_the_fields_of_a_rule_when_one_is_chosen(task, visit, monkeypatch):
    monkeypatch.setattr(editor_context, "MANY", 0)
    page = visit("author").go(task.get_absolute_url())
    before = spec_of(task)
    place = next(place for place, item in enumerate(before.checklist) if item.grader == "rubric")
    item = page.locator("#checklist > .rows-edit > [data-row]").nth(place)

    expect(item.get_by_label("Rule", exact=True)).to_have_count(0)
    item.get_by_label("Grader").select_option("rule")
    item.get_by_label("Rule", exact=True).select_option("reply_contains")
    expect(item.get_by_label("File in the workspace")).to_be_hidden()
    item.get_by_label("This text").fill("Thursday")
    save(page)

    after = spec_of(task).checklist
    assert (after[place].rule.kind, after[place].rule.text) == ("reply_contains", "Thursday")
    assert [one.rule for one in after[:place]] == [one.rule for one in before.checklist[:place]]


def test_of_two_people_who_save_neither_loses_a_word(task, visit):
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("owner").go(task.get_absolute_url())

    theirs.get_by_role("textbox", name=REQUEST).fill("Their words.")
    save(theirs)
    mine.get_by_role("textbox", name=REQUEST).fill("My words.")
    mine.keyboard.press("Control+s")  # at once: what is kept by itself would show both before the save does

    expect(mine.get_by_role("alert").filter(has_text="someone else saved version 2")).to_be_visible()
    choice = mine.locator("#request [data-conflict]")  # beside its field
    expect(choice).to_contain_text("Their words.")
    expect(choice).to_contain_text("My words.")
    mine.keyboard.press("Control+s")  # a second time, without an answer
    expect(choice).to_be_focused()
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("My words.")
    assert spec_of(task).initial_request == "Their words."

    choice.get_by_role("button", name="Keep yours").click()
    expect(mine.locator("[data-conflict]")).to_have_count(0)
    save(mine)
    assert [TaskSpec.model_validate(one.spec).initial_request for one in task.revisions.order_by("number")][1:] == [
        "Their words.",
        "My words.",
    ]


def test_an_old_version_comes_back_as_a_new_one(task, visit):
    old = spec_of(task).initial_request
    page = visit("author").go(task.get_absolute_url())
    page.get_by_role("textbox", name=REQUEST).fill("A mistake.")
    save(page)

    page.keyboard.press("Escape")
    page.keyboard.press("v")
    page.wait_for_url("**/versions/")
    page.get_by_role("listitem").filter(has_text="v1").get_by_role("link").click()
    page.get_by_label("Compared with").select_option("version 2, the newest")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("ins, del").filter(has_text="mistake")).to_be_visible()
    page.get_by_role("button", name="Restore this version").click()

    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value(old)
    assert (task.revisions.count(), spec_of(task).initial_request) == (3, old)


def test_findings_stand_beside_their_fields_with_the_words_marked(task, visit):
    page = visit("author").go(task.get_absolute_url())
    said = "Each question has a follow-up ready in case he dodges it."

    page.get_by_role("textbox", name=REQUEST).fill(f"Write the briefing. {said}")
    page.get_by_role("textbox", name=CRITERION).nth(1).fill("")
    save(page)

    beside = page.locator("#intents > .rows-edit > [data-row]").filter(has_text=said).locator(".finding")
    expect(beside).to_be_visible()
    expect(page.locator(".mirror mark").filter(has_text="follow-up").first).to_be_attached()
    page.get_by_role("complementary").get_by_role("link", name="Show").first.click()
    expect(page.locator("#intents textarea:focus, #request textarea:focus, #checklist textarea:focus")).to_be_visible()


def test_what_cannot_be_saved_says_so_at_its_place_and_keeps_what_was_typed(task, visit):
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("textbox", name="weight").first.fill("a lot")
    page.get_by_role("textbox", name=REQUEST).fill("Still here.")
    page.keyboard.press("Control+s")

    expect(page.get_by_role("alert").first).to_contain_text("Your text is kept")
    expect(page.locator("#checklist .error").first).to_be_visible()
    expect(page.get_by_role("textbox", name="weight").first).to_have_value("a lot")
    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value("Still here.")
    assert task.revisions.count() == 1
