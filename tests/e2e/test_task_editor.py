"""The task editor."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

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


def remove(row: Locator) -> None:
    row.get_by_role("textbox").first.click()
    row.get_by_role("button", name="Remove").last.click()


def test_edits_of_every_section_are_saved_as_one_version(task, visit):
    before = spec_of(task)
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("textbox", name=REQUEST).fill("Please write the briefing for Thursday.")
    page.keyboard.press("Escape")
    page.keyboard.press("i")
    page.keyboard.type("The council's spokesman is not quoted.")
    remove(page.locator("#intents > .rows-edit > [data-row]").nth(1))
    page.get_by_role("button", name="+ item").click()
    page.keyboard.type("The briefing fits on one page.")
    remove(page.locator("#checklist > .rows-edit > [data-row]").nth(0))
    expect(page.locator("[data-save-status]")).to_contain_text("not in a version")  # autosaved, no version yet
    save(page)

    after = spec_of(task)
    assert task.revisions.count() == 2
    assert after.initial_request == "Please write the briefing for Thursday."
    old = [intent.content for intent in before.intents]
    assert [intent.content for intent in after.intents] == [old[0], *old[2:], "The council's spokesman is not quoted."]
    assert [item.criterion for item in after.checklist] == [
        *(item.criterion for item in before.checklist[1:]),
        "The briefing fits on one page.",
    ]
    assert after.intents[0].uid == before.intents[0].uid and after.intents[1].uid == before.intents[2].uid


def test_actions_of_a_draft_stand_in_one_line_with_its_title(radio, visit):
    page = visit("author").go(radio["04_music_return"].get_absolute_url())

    bar = page.get_by_role("banner")

    expect(bar.get_by_role("button", name="Submit for review")).to_be_visible()
    assert bar.evaluate("bar => `${bar.offsetHeight}px` === getComputedStyle(bar).minHeight")


def test_brief_item_gets_rule_inputs_when_a_rule_is_chosen(task, visit, monkeypatch):
    monkeypatch.setattr(editor_context, "BRIEF_ROWS_FROM", 0)
    page = visit("author").go(task.get_absolute_url())
    before = spec_of(task)
    index = next(index for index, item in enumerate(before.checklist) if item.grader == "rubric")
    item = page.locator("#checklist > .rows-edit > [data-row]").nth(index)

    expect(item.get_by_label("Rule", exact=True)).to_have_count(0)
    item.get_by_role("textbox").first.click()
    item.get_by_label("Grader").select_option("rule")
    item.get_by_label("Rule", exact=True).select_option("reply_contains")
    expect(item.get_by_label("File in the workspace")).to_be_hidden()
    item.get_by_label("This text").fill("Thursday")
    save(page)

    after = spec_of(task).checklist
    assert (after[index].rule.kind, after[index].rule.text) == ("reply_contains", "Thursday")
    assert [row.rule for row in after[:index]] == [row.rule for row in before.checklist[:index]]


def test_second_saver_resolves_the_conflict_and_nothing_is_lost(task, visit):
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("owner").go(task.get_absolute_url())

    theirs.get_by_role("textbox", name=REQUEST).fill("Their words.")
    save(theirs)
    mine.get_by_role("textbox", name=REQUEST).fill("My words.")
    mine.keyboard.press("Control+s")  # at once, before autosave shows the conflict

    expect(mine.get_by_role("alert").filter(has_text="someone else saved version 2")).to_be_visible()
    choice = mine.locator("#request [data-conflict]")  # beside its field
    expect(choice).to_contain_text("Their words.")
    expect(choice).to_contain_text("My words.")
    mine.keyboard.press("Control+s")  # again, without resolving
    expect(choice).to_be_focused()
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("My words.")
    assert spec_of(task).initial_request == "Their words."

    choice.get_by_role("button", name="Keep yours").click()
    expect(mine.locator("[data-conflict]")).to_have_count(0)
    save(mine)
    specs = [TaskSpec.model_validate(revision.spec) for revision in task.revisions.order_by("number")]
    assert [spec.initial_request for spec in specs[1:]] == ["Their words.", "My words."]


def test_old_version_is_restored_as_a_new_one(task, visit):
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


@pytest.mark.everyday
def test_findings_appear_beside_their_fields_with_the_text_marked(task, visit):
    page = visit("author").go(task.get_absolute_url())
    intent = "Each question has a follow-up ready in case he dodges it."

    page.get_by_role("textbox", name=REQUEST).fill(f"Write the briefing. {intent}")
    page.get_by_role("textbox", name=CRITERION).nth(1).fill("")
    save(page)

    beside = page.locator("#intents > .rows-edit > [data-row]").filter(has_text=intent).locator(".finding")
    expect(beside).to_be_visible()
    expect(page.locator(".mirror mark").filter(has_text="follow-up").first).to_be_attached()
    page.get_by_role("complementary").get_by_role("link", name="Show").first.click()
    expect(page.locator("#intents textarea:focus, #request textarea:focus, #checklist textarea:focus")).to_be_visible()


def test_invalid_input_is_explained_beside_its_field_and_kept(task, visit):
    page = visit("author").go(task.get_absolute_url())

    page.get_by_label("What must be true in the end").first.click()
    page.get_by_role("textbox", name="weight").first.fill("a lot")
    page.get_by_role("textbox", name=REQUEST).fill("Still here.")
    page.keyboard.press("Control+s")

    expect(page.get_by_role("alert").first).to_contain_text("Your draft is saved")
    expect(page.locator("#checklist .error").first).to_be_visible()
    expect(page.get_by_role("textbox", name="weight").first).to_have_value("a lot")
    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value("Still here.")
    assert task.revisions.count() == 1


def test_try_on_a_model_stands_beside_rehearse_and_opens_beside_the_text(radio, visit):
    page = visit("author").go(radio["02_briefing"].get_absolute_url())
    page.get_by_text("Try…").click()
    expect(page.get_by_role("link", name="Rehearse")).to_be_visible()

    page.get_by_role("link", name="Try on a model").click()

    expect(page.get_by_role("button", name="Try on scripted-helpful")).to_be_visible()
    expect(page.locator("[data-tab=try]")).to_be_focused()
    expect(page.locator("#findings")).to_be_hidden()


def test_the_key_of_a_folded_menu_works(radio, visit):
    page = visit("author").go(radio["02_briefing"].get_absolute_url())

    page.keyboard.press("R")

    expect(page.get_by_role("button", name="Try on scripted-helpful")).to_be_visible()


def test_the_step_above_is_never_cut_to_a_letter(radio, visit):
    page = visit("author").go(radio["02_briefing"].get_absolute_url())
    page.set_viewport_size({"width": 1280, "height": 800})

    above = page.locator(".crumbs li").nth(-2).locator("a")

    assert above.bounding_box()["width"] > 80


def test_the_title_above_is_never_cut_to_a_letter_by_what_is_said_of_the_draft(radio, visit):
    page = visit("author").go(radio["04_music_return"].get_absolute_url())

    page.get_by_label("Title").fill("The music return for all of February")
    expect(page.locator("[data-save-status]")).to_contain_text("not in a version yet")

    assert page.locator(".crumbs [aria-current]").bounding_box()["width"] > 60
