"""Editing a task: rows by keyboard, findings while typing, autosave, two users in one task."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Request, Route, expect

from studio.drafts.load import load_task
from studio.models import Autosave, DiscardedText, Task
from tests.e2e.visitor import Visitor
from tests.local.processes import wait_until

INTENT = "What they need and do not say"
REQUEST = "Request"
SAVED = "[data-save-status]"
NOTICE = ".save-notice"
HEARTBEAT = 25_000
"""Milliseconds within which an open page contacts the studio reopened."""
PASTE = """text => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    const options = {clipboardData: data, bubbles: true, cancelable: true};
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", options));
}"""


@pytest.fixture
def task(radio) -> Task:
    return radio["02_briefing"]


def lines(page) -> list[str]:
    return page.locator("#intents > .rows-edit > [data-row] .area > textarea").evaluate_all(
        "all => all.map(a => a.value)"
    )


def assert_autosaved(task: Task, **fields: str) -> None:
    copy = Autosave.objects.get(task=task, form_data__isnull=False)
    assert {name: copy.form_data[name] for name in fields} == {name: [value] for name, value in fields.items()}


def test_intents_are_split_joined_moved_and_pasted_by_keyboard_with_undo(task, visit):
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
    assert [intent.content for intent in load_task(task).intents] == [*before, "Rye is not.", "Salt is short."]


@pytest.mark.everyday
def test_findings_appear_while_typing_without_layout_shift(task, visit):
    page = visit("author").go(task.get_absolute_url())
    second_intent = page.get_by_role("textbox", name=INTENT).nth(1).input_value()
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("Write the briefing, please. It may be long, and it has to be there on Thursday morning.")
    expect(page.locator("html[data-checked]")).to_be_attached()
    edited, below = page.get_by_role("textbox", name=INTENT).nth(0), page.locator("#checklist")
    edited.click()  # its settings show
    expect(page.locator("#intents .tucked.open")).to_be_attached()
    height, top = edited.bounding_box()["height"], below.bounding_box()["y"]

    edited.fill(request.input_value().split(".")[0] + ".")

    pane = page.get_by_role("complementary")
    expect(pane.locator("[data-live=findings] .finding").filter(has_text="request").first).to_be_visible()
    expect(page.locator("#intents .mirror mark, #request .mirror mark").first).to_be_attached()
    grown = edited.bounding_box()["height"] - height
    assert below.bounding_box()["y"] - top == pytest.approx(grown, abs=2)
    assert load_task(task).intents[1].content == second_intent
    pane.get_by_role("link", name="Guide").click()
    expect(pane.get_by_text("Is not already stated")).to_be_visible()
    request.focus()
    expect(pane.get_by_text("Sounds like the person")).to_be_visible()
    pane.get_by_role("link", name="Evidence").click()
    pane.locator(".evidence .intent").nth(1).click()
    expect(page.get_by_role("textbox", name=INTENT).nth(1)).to_be_focused()


@pytest.mark.everyday
def test_text_is_autosaved_and_survives_a_reload(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())

    page.get_by_role("textbox", name=REQUEST).press_sequentially("Kept.")
    expect(page.locator(SAVED)).to_contain_text("Draft saved")
    expect(page.locator(SAVED)).to_contain_text("not in a version yet")
    value = page.get_by_role("textbox", name=REQUEST).input_value()
    assert_autosaved(task, initial_request=value)
    page.reload()

    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value(value)


@pytest.mark.everyday
def test_offline_text_is_autosaved_when_the_connection_returns(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())

    visitor.context.set_offline(True)
    page.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")
    expect(page.locator(SAVED)).to_contain_text("No connection")
    visitor.context.set_offline(False)

    expect(page.locator(SAVED)).to_contain_text("Draft saved")
    assert_autosaved(task, initial_request="Written in a tunnel.")


def test_text_typed_after_the_session_expired_is_back_after_signing_in(task, visit):
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
    expect(page.locator(SAVED)).to_contain_text("Unsaved changes restored")


def sign_in(page, name: str) -> None:
    page.goto("/login/")
    page.locator("[name=username]").fill(name)
    page.locator("[name=password]").fill(f"{name}-demo")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/")


def test_signing_in_in_another_tab_autosaves_pending_text(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.clear_cookies()
    page.get_by_role("textbox", name=REQUEST).fill("Written too late.")
    expect(page.locator(SAVED)).to_contain_text("signed out")

    sign_in(visitor.tab(), "author")

    expect(page.locator(SAVED)).to_contain_text("Draft saved", timeout=HEARTBEAT)
    assert_autosaved(task, initial_request="Written too late.")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()


def test_pending_text_is_not_shown_or_attributed_to_another_user_who_signs_in(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.clear_cookies()
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("Written too late.")
    expect(page.locator(SAVED)).to_contain_text("signed out")

    other = visitor.tab()
    sign_in(other, "owner")
    other.goto(task.get_absolute_url(), wait_until="networkidle")  # what it would restore is restored
    expect(other.get_by_role("textbox", name=REQUEST)).to_have_value(load_task(task).initial_request)
    expect(other.locator(NOTICE)).to_have_count(0)
    with page.expect_response(lambda answer: "/keep/" in answer.url and answer.request.method == "POST") as response:
        request.fill("Written too late, and more.")
    assert response.value.status == 403
    assert not Autosave.objects.filter(task=task, form_data__isnull=False).exists()


def test_offline_text_survives_closing_the_window(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.set_offline(True)
    page.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")
    expect(page.locator(SAVED)).to_contain_text("No connection")
    page.close()
    visitor.context.set_offline(False)

    reopened = visitor.tab()
    reopened.goto(task.get_absolute_url())

    expect(reopened.get_by_role("textbox", name=REQUEST)).to_have_value("Written in a tunnel.")
    expect(reopened.locator(SAVED)).to_contain_text("v1")
    assert_autosaved(task, initial_request="Written in a tunnel.")


def test_offline_text_of_two_windows_is_chosen_from(task, visit):
    visitor = visit("author")
    first, second = visitor.go(task.get_absolute_url()), visitor.tab()
    second.goto(task.get_absolute_url())
    visitor.context.set_offline(True)
    first.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")
    second.get_by_role("textbox", name="Description").fill("Written in the same tunnel.")
    for page in (first, second):
        expect(page.locator(SAVED)).to_contain_text("No connection")
        page.close()
    visitor.context.set_offline(False)

    reopened = visitor.tab()
    reopened.goto(task.get_absolute_url())

    expect(reopened.get_by_role("textbox", name=REQUEST)).to_have_value("Written in a tunnel.")
    reopened.locator(NOTICE).get_by_role("button", name="Use it").click()
    expect(reopened.get_by_role("textbox", name="Description")).to_have_value("Written in the same tunnel.")
    expect(reopened.locator(NOTICE)).to_have_count(0)
    assert [row.form_data["initial_request"] for row in DiscardedText.objects.all()] == [["Written in a tunnel."]]


def test_two_users_see_each_other_and_edits_of_different_fields_are_merged(task, visit):
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


@pytest.mark.everyday
def test_text_typed_while_a_save_brings_in_anothers_stays(task, visit):
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("owner").go(task.get_absolute_url())
    held: list[Route] = []

    def is_draft(request: Request) -> bool:
        return request.method == "POST" and request.url.endswith("/keep/")

    mine.route(
        "**/keep/", lambda route: held.append(route) if is_draft(route.request) and not held else route.continue_()
    )
    theirs.get_by_role("textbox", name="Title").fill("A title of theirs")
    theirs.keyboard.press("Control+s")
    expect(theirs.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    with mine.expect_request(is_draft):
        mine.get_by_role("textbox", name=REQUEST).fill("Before the answer.")
    mine.get_by_role("textbox", name=REQUEST).fill("Before the answer, and after.")
    held[0].continue_()

    expect(mine.get_by_role("textbox", name="Title")).to_have_value("A title of theirs")
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("Before the answer, and after.")
    mine.keyboard.press("Control+s")
    expect(mine.get_by_role("status").filter(has_text="Saved as version 3")).to_be_visible()
    spec = load_task(Task.objects.get(pk=task.pk))
    assert (spec.title, spec.initial_request) == ("A title of theirs", "Before the answer, and after.")


def test_row_typed_in_while_a_save_brings_in_that_somebody_removed_it_stays(task, visit):
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("owner").go(task.get_absolute_url())
    held: list[Route] = []
    mine.route("**/keep/", lambda route: route.continue_() if held else held.append(route))
    rows = "#intents > .rows-edit > [data-row]"
    theirs.get_by_role("textbox", name="Description").fill("Described by them.")
    theirs.get_by_role("textbox", name=INTENT).last.focus()
    theirs.locator(rows).last.get_by_role("button", name="Remove", exact=True).last.click()
    theirs.keyboard.press("Control+s")
    expect(theirs.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    with mine.expect_request("**/keep/"):
        mine.get_by_role("textbox", name="Title").fill("Before the answer")
    mine.get_by_role("textbox", name=INTENT).last.fill("Typed since.")
    held[0].continue_()

    expect(mine.get_by_role("textbox", name="Description")).to_have_value("Described by them.")
    assert lines(mine)[-1] == "Typed since."


@pytest.mark.everyday
def test_text_typed_just_before_the_page_is_left_reaches_the_studio(task, visit):
    page = visit("author").go(task.get_absolute_url())

    page.get_by_role("textbox", name=REQUEST).fill("At the last moment.")
    page.goto("/")

    def stored() -> list[list[str]]:
        rows = Autosave.objects.filter(task=task, form_data__isnull=False)
        return [row.form_data["initial_request"] for row in rows]

    wait_until(lambda: stored() == [["At the last moment."]], "the text of the page that was left", seconds=60)


def edit_same_field(task: Task, visit: Callable[..., Visitor]) -> tuple[Page, Page]:
    """The author's page and the owner's, who saved first, both with the request edited."""
    visitor = visit("author")
    mine = visitor.go(task.get_absolute_url())
    theirs = visit("owner").go(task.get_absolute_url())
    visitor.context.set_offline(True)  # or the page may get the other version before it is edited
    theirs.get_by_role("textbox", name=REQUEST).fill("Their words.")
    theirs.keyboard.press("Control+s")
    expect(theirs.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()
    mine.get_by_role("textbox", name=REQUEST).fill("My words.")
    visitor.context.set_offline(False)
    return mine, theirs


def test_second_editor_of_a_field_can_take_the_other_version(task, visit):
    mine, _ = edit_same_field(task, visit)

    choice = mine.locator("[data-conflict]")
    expect(choice).to_contain_text("Their words.")
    expect(choice).to_contain_text("My words.")
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("My words.")
    choice.get_by_role("button", name="Use theirs").click()
    expect(mine.get_by_role("textbox", name=REQUEST)).to_have_value("Their words.")
    expect(choice).to_have_count(0)
    assert load_task(Task.objects.get(pk=task.pk)).initial_request == "Their words."

    def discarded() -> list[list[str]]:
        return [row.form_data["initial_request"] for row in DiscardedText.objects.all()]

    wait_until(lambda: ["My words."] in discarded(), "the text that lost, to be taken back", seconds=60)


def test_text_typed_just_before_a_reload_is_restored_without_conflicts(task, visit):
    page = visit("author").go(task.get_absolute_url())
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("Kept.")
    expect(page.locator(SAVED)).to_contain_text("Draft saved")
    for text in ("Kept. And typed at the last moment.", "Kept. And typed later.", "Kept. And typed at last."):
        request.fill(text)
        page.reload()
        expect(request).to_have_value(text)
        expect(page.locator("[data-conflict]")).to_have_count(0)

    page.get_by_role("textbox", name="Title").fill("And then a title")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    spec = load_task(Task.objects.get(pk=task.pk))
    assert (spec.initial_request, spec.title) == ("Kept. And typed at last.", "And then a title")


def test_a_version_of_a_task_in_review_shows_everybody_there_that_it_is_a_draft_again(task, visit):
    mine = visit("author").go(task.get_absolute_url())
    mine.get_by_role("button", name="Submit for review…").click()
    mine.get_by_role("button", name="Submit for review", exact=True).click()
    pill = mine.locator("[data-workflow=pill]")
    expect(pill).to_contain_text("in review")
    theirs = visit("owner").go(task.get_absolute_url())
    expect(theirs.locator("[data-presence]")).to_contain_text("here")

    mine.get_by_role("textbox", name=REQUEST).fill("Something else.")
    mine.keyboard.press("Control+s")
    mine.get_by_role("dialog").get_by_role("button", name="Save version").click()

    expect(pill).to_contain_text("draft", timeout=HEARTBEAT)
    expect(mine.get_by_role("button", name="Submit for review")).to_be_visible()
    expect(theirs.locator("[data-workflow=pill]")).to_contain_text("draft", timeout=HEARTBEAT)


def test_second_editor_of_a_field_can_keep_their_version_and_the_first_sees_it(task, visit):
    mine, theirs = edit_same_field(task, visit)
    choice = mine.locator("[data-conflict]")
    expect(choice).to_contain_text("Their words.")

    choice.get_by_role("button", name="Keep yours").click()
    expect(choice).to_have_count(0)
    mine.keyboard.press("Control+s")
    expect(mine.get_by_role("status").filter(has_text="Saved as version 3")).to_be_visible()

    expect(theirs.get_by_role("textbox", name=REQUEST)).to_have_value("My words.", timeout=HEARTBEAT)
