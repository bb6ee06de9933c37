"""Writing a task as people do: lines by key, findings as they type, words that are kept, two in one task."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from studio.drafts.load import load_task
from studio.models import Autosave, Task
from tests.e2e.visitor import Visitor

INTENT = "What they need and do not say"
REQUEST = "Request"
SAVED = "[data-save-status]"
A_BEAT_AND_MORE = 25_000
"""Milliseconds in which an open page asks again whether the studio can be reached."""
PASTE = """text => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const how = {clipboardData: data, bubbles: true, cancelable: true};
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", how));
}"""


@pytest.fixture
def task(radio) -> Task:
    return radio["02_briefing"]


def lines(page) -> list[str]:
    return page.locator("#intents > .rows-edit > [data-row] .area > textarea").evaluate_all(
        "all => all.map(a => a.value)"
    )


def kept(task: Task, **now) -> None:
    """What the studio holds without a save."""
    copy = Autosave.objects.get(task=task, form_data__isnull=False)
    assert {name: copy.form_data[name] for name in now} == {name: [value] for name, value in now.items()}


def test_intents_are_written_split_joined_moved_pasted_and_undone_by_key(task, visit):
    page = visit("author").go(task.get_absolute_url())
    press = page.keyboard.press
    before = lines(page)

    press("i")
    page.keyboard.type("Salt is short. Rye is not.")
    for _ in range(len(" Rye is not.")):
        press("ArrowLeft")
    press("Enter")
    assert lines(page) == [*before, "Salt is short.", "Rye is not."]
    press("Backspace")
    assert lines(page) == [*before, "Salt is short. Rye is not."]
    press("Control+z")
    assert lines(page) == [*before, "Salt is short.", "Rye is not."]
    press("Alt+ArrowUp")
    assert lines(page) == [*before, "Rye is not.", "Salt is short."]
    press("Control+z")
    press("Control+Shift+z")
    assert lines(page) == [*before, "Rye is not.", "Salt is short."]
    press("End")
    press("Enter")
    ten = "\n".join(f"{number}. Need {number}" for number in range(1, 11))
    page.evaluate(PASTE, ten)
    assert lines(page)[len(before) + 1 : len(before) + 11] == [f"Need {number}" for number in range(1, 11)]
    press("Control+z")
    assert lines(page) == [*before, "Rye is not.", "", "Salt is short."]
    press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()
    assert [one.content for one in load_task(task).intents] == [*before, "Rye is not.", "Salt is short."]


def test_findings_come_as_they_type_and_nothing_moves(task, visit):
    page = visit("author").go(task.get_absolute_url())
    said = page.get_by_role("textbox", name=INTENT).nth(1).input_value()
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("Write the briefing, please. It may be long, and it has to be there on Thursday morning.")
    expect(page.locator("html[data-checked]")).to_be_attached()
    below = page.locator("#checklist")
    at = below.bounding_box()["y"]

    page.get_by_role("textbox", name=INTENT).nth(0).fill(request.input_value().split(".")[0] + ".")

    pane = page.get_by_role("complementary")
    expect(pane.locator("[data-live=findings] .finding").filter(has_text="request").first).to_be_visible()
    expect(page.locator("#intents .mirror mark, #request .mirror mark").first).to_be_attached()
    assert abs(below.bounding_box()["y"] - at) < 40  # the line itself may be one shorter
    assert load_task(task).intents[1].content == said
    pane.get_by_role("link", name="Guide").click()
    expect(pane.get_by_text("Is not already stated")).to_be_visible()
    request.focus()
    expect(pane.get_by_text("Sounds like the person")).to_be_visible()
    pane.get_by_role("link", name="Evidence").click()
    pane.locator(".evidence .intent").nth(1).click()
    expect(page.get_by_role("textbox", name=INTENT).nth(1)).to_be_focused()


def test_words_are_kept_within_two_seconds_and_a_reload_has_them(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())

    page.get_by_role("textbox", name=REQUEST).press_sequentially("Kept.")
    expect(page.locator(SAVED)).to_contain_text("Draft saved", timeout=2_500)
    expect(page.locator(SAVED)).to_contain_text("v1")
    value = page.get_by_role("textbox", name=REQUEST).input_value()
    kept(task, initial_request=value)
    page.reload()

    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value(value)


def test_a_lost_connection_keeps_the_words_and_sends_them_later(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())

    visitor.context.set_offline(True)
    page.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")
    expect(page.locator(SAVED)).to_contain_text("No connection")
    visitor.context.set_offline(False)

    expect(page.locator(SAVED)).to_contain_text("Draft saved")
    kept(task, initial_request="Written in a tunnel.")


def test_words_of_an_expired_session_are_back_after_signing_in(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    session = visitor.context.cookies()
    visitor.context.clear_cookies()

    page.get_by_role("textbox", name=REQUEST).fill("Written too late.")
    expect(page.locator(SAVED)).to_contain_text("signed out")
    visitor.context.add_cookies(session)
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()

    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value("Written too late.")
    # As a version if the page that was left had time to save it, else as a draft.
    expect(page.locator(SAVED)).to_contain_text(re.compile("Draft saved|Saved as version"))


def sign_in(page, name: str) -> None:
    page.goto("/login/")
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(f"{name}-demo")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def test_signing_in_in_another_tab_sends_what_was_waiting(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.clear_cookies()
    page.get_by_role("textbox", name=REQUEST).fill("Written too late.")
    expect(page.locator(SAVED)).to_contain_text("signed out")

    sign_in(visitor.tab(), "author")

    expect(page.locator(SAVED)).to_contain_text("Draft saved", timeout=A_BEAT_AND_MORE)
    kept(task, initial_request="Written too late.")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()


def test_whoever_else_signs_in_is_neither_shown_nor_made_the_author_of_what_was_waiting(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.clear_cookies()
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("Written too late.")
    expect(page.locator(SAVED)).to_contain_text("signed out")

    other = visitor.tab()
    sign_in(other, "owner")
    other.goto(task.get_absolute_url())
    expect(other.get_by_role("textbox", name=REQUEST)).to_have_value(load_task(task).initial_request)
    with page.expect_response(lambda answer: "/keep/" in answer.url and answer.request.method == "POST") as answered:
        request.fill("Written too late, and more.")
    assert answered.value.status == 403
    assert not Autosave.objects.filter(task=task, form_data__isnull=False).exists()


def test_words_written_offline_outlive_their_window(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.set_offline(True)
    page.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")
    expect(page.locator(SAVED)).to_contain_text("No connection")
    page.close()
    visitor.context.set_offline(False)

    again = visitor.tab()
    again.goto(task.get_absolute_url())

    expect(again.get_by_role("textbox", name=REQUEST)).to_have_value("Written in a tunnel.")
    expect(again.locator(SAVED)).to_contain_text("v1")
    kept(task, initial_request="Written in a tunnel.")


def test_words_of_two_windows_without_a_connection_are_both_there_afterwards(task, visit):
    visitor = visit("author")
    one, other = visitor.go(task.get_absolute_url()), visitor.tab()
    other.goto(task.get_absolute_url())
    visitor.context.set_offline(True)
    one.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")
    other.get_by_role("textbox", name="Description").fill("Written in the same tunnel.")
    for page in (one, other):
        expect(page.locator(SAVED)).to_contain_text("No connection")
        page.close()
    visitor.context.set_offline(False)

    again = visitor.tab()
    again.goto(task.get_absolute_url())

    expect(again.get_by_role("textbox", name="Description")).to_have_value("Written in the same tunnel.")
    expect(again.get_by_role("textbox", name=REQUEST)).to_have_value("Written in a tunnel.")
    expect(again.locator("[data-conflict]")).to_have_count(0)


def test_two_in_one_task_see_each_other_and_different_fields_come_together(task, visit):
    mine = visit("author").go(task.get_absolute_url())
    theirs = visit("owner").go(task.get_absolute_url())
    expect(theirs.locator("[data-presence]")).to_contain_text("here")

    theirs.get_by_role("textbox", name="Title").fill("A title of theirs")
    theirs.keyboard.press("Control+s")
    expect(theirs.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()
    mine.get_by_role("textbox", name="Description").fill("A description of mine.")

    expect(mine.get_by_role("textbox", name="Title")).to_have_value("A title of theirs")
    expect(mine.get_by_role("textbox", name="Description")).to_have_value("A description of mine.")
    expect(mine.locator("[data-presence]")).to_contain_text("here")
    mine.keyboard.press("Control+s")
    expect(mine.get_by_role("status").filter(has_text="Saved as version 3")).to_be_visible()
    spec = load_task(Task.objects.get(pk=task.pk))
    assert (spec.title, spec.description) == ("A title of theirs", "A description of mine.")


def both_wrote(task: Task, visit: Callable[..., Visitor]) -> tuple[Page, Page]:
    """The author's page and the owner's, who saved first."""
    visitor = visit("author")
    mine = visitor.go(task.get_absolute_url())
    theirs = visit("owner").go(task.get_absolute_url())
    visitor.context.set_offline(True)  # or an open page may be told of theirs before it has words of its own
    theirs.get_by_role("textbox", name=REQUEST).fill("Their words.")
    theirs.keyboard.press("Control+s")
    expect(theirs.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()
    mine.get_by_role("textbox", name=REQUEST).fill("My words.")
    visitor.context.set_offline(False)
    return mine, theirs


def test_the_second_to_change_a_field_is_shown_both_and_takes_theirs(task, visit):
    mine, _ = both_wrote(task, visit)

    choice = mine.locator("[data-conflict]")
    expect(choice).to_contain_text("Their words.")
    expect(choice).to_contain_text("My words.")
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("My words.")
    choice.get_by_role("button", name="Use theirs").click()
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("Their words.")
    expect(choice).to_have_count(0)
    assert load_task(Task.objects.get(pk=task.pk)).initial_request == "Their words."


def test_words_typed_just_before_a_reload_are_there_after_it_and_nothing_is_asked(task, visit):
    page = visit("author").go(task.get_absolute_url())
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("Kept.")
    expect(page.locator(SAVED)).to_contain_text("Draft saved", timeout=2_500)
    for words in ("Kept. And typed at the last moment.", "Kept. And typed later.", "Kept. And typed at last."):
        request.fill(words)
        page.reload()
        expect(request).to_have_value(words)
        expect(page.locator("[data-conflict]")).to_have_count(0)

    page.get_by_role("textbox", name="Title").fill("And then a title")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    spec = load_task(Task.objects.get(pk=task.pk))
    assert (spec.initial_request, spec.title) == ("Kept. And typed at last.", "And then a title")


def test_an_edit_of_a_task_in_review_shows_everybody_there_that_it_is_a_draft_again(task, visit):
    mine = visit("author").go(task.get_absolute_url())
    mine.get_by_role("button", name="Submit for review").click()
    pill = mine.locator("[data-workflow=pill]")
    expect(pill).to_contain_text("in review")
    theirs = visit("owner").go(task.get_absolute_url())
    expect(theirs.locator("[data-presence]")).to_contain_text("here")

    mine.get_by_role("textbox", name=REQUEST).fill("Something else.")

    expect(pill).to_contain_text("draft", timeout=A_BEAT_AND_MORE)
    expect(mine.get_by_role("button", name="Submit for review")).to_be_visible()
    expect(theirs.locator("[data-workflow=pill]")).to_contain_text("draft", timeout=A_BEAT_AND_MORE)


def test_the_second_to_change_a_field_may_keep_their_own_and_the_first_is_shown_it(task, visit):
    mine, theirs = both_wrote(task, visit)
    choice = mine.locator("[data-conflict]")
    expect(choice).to_contain_text("Their words.")

    choice.get_by_role("button", name="Keep yours").click()
    expect(choice).to_have_count(0)
    mine.keyboard.press("Control+s")
    expect(mine.get_by_role("status").filter(has_text="Saved as version 3")).to_be_visible()

    expect(theirs.get_by_role("textbox", name=REQUEST)).to_have_value("My words.", timeout=A_BEAT_AND_MORE)
