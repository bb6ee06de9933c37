"""Saving: nothing that was typed is lost, whatever happens to the connection, the session or another window."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from studio.drafts.load import load_task
from studio.models import Autosave, DiscardedText, Task

REQUEST = "Request"
NOTICE = ".save-notice"
STATUS = "[data-save-status]"


@pytest.fixture
def task(radio) -> Task:
    return radio["02_briefing"]


def request_of(task: Task) -> str:
    return load_task(Task.objects.get(pk=task.pk)).initial_request


def saved_draft(page: Page) -> None:
    expect(page.locator(STATUS)).to_contain_text("Draft saved")


def save_version(page: Page) -> None:
    page.keyboard.press("Control+s")
    expect(page.locator(STATUS)).to_contain_text("Saved as version")


def test_save_without_a_connection_keeps_the_page_and_says_what_to_do(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.set_offline(True)
    page.get_by_role("textbox", name=REQUEST).fill("Written in a tunnel.")

    page.keyboard.press("Control+s")

    expect(page.locator(NOTICE)).to_contain_text("no connection")
    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value("Written in a tunnel.")
    page.close()
    visitor.context.set_offline(False)
    again = visitor.tab()
    again.goto(task.get_absolute_url())
    expect(again.get_by_role("textbox", name=REQUEST)).to_have_value("Written in a tunnel.")


def fail_with(context: BrowserContext, status: int) -> None:
    context.route(re.compile("/keep/"), lambda route: route.fulfill(status=status, body="broken"))


def test_save_during_a_server_error_keeps_the_page_and_is_tried_again(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    fail_with(visitor.context, 502)
    page.get_by_role("textbox", name=REQUEST).fill("Written during a deployment.")

    page.get_by_role("button", name="Save version").first.click()

    expect(page.locator(NOTICE)).to_contain_text("something went wrong on our side")
    expect(page.locator(NOTICE).get_by_role("button", name="Try again")).to_be_visible()
    visitor.context.unroute(re.compile("/keep/"))
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.locator(STATUS)).to_contain_text("Saved as version 2")
    expect(page.locator(NOTICE)).to_have_count(0)
    assert request_of(task) == "Written during a deployment."


def test_save_while_signed_out_makes_the_version_after_signing_in_in_place(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    visitor.context.clear_cookies()
    page.get_by_role("textbox", name=REQUEST).fill("Written too late.")
    page.keyboard.press("Control+s")
    expect(page.locator(NOTICE)).to_contain_text("you are signed out")

    with visitor.context.expect_page() as opened:
        page.locator(NOTICE).get_by_role("link", name="Sign in").click()
    window = opened.value
    window.locator("[name=username]").fill("author")
    window.locator("[name=password]").fill("author-demo")
    with window.expect_event("close"):
        window.get_by_role("button", name="Sign in").click()

    expect(page.locator(STATUS)).to_contain_text("Saved as version 2")
    expect(page.locator(NOTICE)).to_have_count(0)
    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value("Written too late.")
    assert request_of(task) == "Written too late."


@pytest.mark.everyday
def test_save_stays_on_the_page_and_typing_goes_on(task, visit):
    page = visit("author").go(task.get_absolute_url())
    request = page.get_by_role("textbox", name=REQUEST)
    request.fill("First.")

    save_version(page)
    page.keyboard.type(" Second.")

    saved_draft(page)
    assert (request_of(task), request.input_value()) == ("First.", "First. Second.")


def test_a_field_that_cannot_be_saved_is_named_on_the_page(task, visit):
    page = visit("author").go(task.get_absolute_url())
    weight = page.locator('[name$=".weight"]').first
    weight.evaluate("input => { input.value = 'a lot'; input.dispatchEvent(new Event('input', {bubbles: true})); }")

    page.keyboard.press("Control+s")

    expect(page.locator(NOTICE)).to_contain_text("Not saved as a version")
    expect(weight).to_have_attribute("aria-invalid", "true")


def two_windows(task: Task, visit) -> tuple[Page, Page]:
    visitor = visit("author")
    one, other = visitor.go(task.get_absolute_url()), visitor.tab()
    other.goto(task.get_absolute_url())
    return one, other


def test_an_open_window_shows_what_the_same_person_types_in_another(task, visit):
    one, other = two_windows(task, visit)

    one.get_by_role("textbox", name="Title").fill("Typed here")
    saved_draft(one)

    expect(other.get_by_role("textbox", name="Title")).to_have_value("Typed here")


@pytest.mark.everyday
def test_text_typed_while_that_of_another_window_comes_in_is_chosen_from(task, visit):
    one, other = two_windows(task, visit)
    held: list[Route] = []
    is_peek = re.compile("(^|&)peek=1")

    def hold(route: Route) -> None:
        held.append(route) if not held and is_peek.search(route.request.post_data or "") else route.continue_()

    other.route("**/keep/", hold)
    with other.expect_request(lambda sent: bool(is_peek.search(sent.post_data or ""))):
        one.get_by_role("textbox", name="Title").fill("Typed here")
    other.get_by_role("textbox", name=REQUEST).fill("Typed there.")

    held[0].continue_()

    expect(other.locator(NOTICE)).to_contain_text("in another window")
    expect(other.get_by_role("textbox", name=REQUEST)).to_have_value("Typed there.")


def test_text_typed_in_two_windows_at_once_is_chosen_from(task, visit):
    one, other = two_windows(task, visit)
    one.route(re.compile("/keep/"), lambda route: route.abort())
    one.get_by_role("textbox", name=REQUEST).fill("From the first window.")
    other.get_by_role("textbox", name=REQUEST).fill("From the second window.")
    saved_draft(other)
    one.unroute(re.compile("/keep/"))

    one.keyboard.press("Control+s")

    notice = one.locator(NOTICE)
    expect(notice).to_contain_text("in another window")
    expect(one.get_by_role("textbox", name=REQUEST)).to_have_value("From the first window.")
    assert Task.objects.get(pk=task.pk).version == 1
    notice.get_by_role("button", name="Use the text of the other").click()
    expect(one.get_by_role("textbox", name=REQUEST)).to_have_value("From the second window.")
    discarded = [row.form_data["initial_request"] for row in DiscardedText.objects.all()]
    assert discarded == [["From the first window."]]
    expect(notice).to_have_count(0)
    other.route(re.compile("/keep/"), lambda route: route.abort())
    one.get_by_role("textbox", name=REQUEST).fill("Third.")
    other.get_by_role("textbox", name=REQUEST).fill("Fourth.")
    saved_draft(one)
    other.unroute(re.compile("/keep/"))
    other.keyboard.press("Control+s")
    keep = other.locator(NOTICE).get_by_role("button", name="Keep the text of this window")
    expect(keep).to_be_visible()
    with other.expect_response(re.compile("/keep/")):  # which asks again
        other.keyboard.press("x")
        other.keyboard.press("Backspace")
    keep.click()
    expect(other.locator(STATUS)).to_contain_text("Saved as version 2")
    assert request_of(task) == "Fourth."


def test_a_duplicated_tab_is_a_window_of_its_own(task, visit):
    one = visit("author").go(task.get_absolute_url())
    with one.expect_popup() as opened:
        one.evaluate("window.open(location.href)")  # copies what the tab keeps, as duplicating it does
    other = opened.value
    one.route(re.compile("/keep/"), lambda route: route.abort())
    one.get_by_role("textbox", name=REQUEST).fill("From the first window.")
    other.get_by_role("textbox", name=REQUEST).fill("From the second window.")
    saved_draft(other)
    one.unroute(re.compile("/keep/"))

    one.keyboard.press("Control+s")

    expect(one.locator(NOTICE)).to_contain_text("in another window")


def test_an_untouched_window_writes_nothing_when_it_is_closed(task, visit):
    one, other = two_windows(task, visit)
    one.get_by_role("textbox", name=REQUEST).fill("Newer.")
    save_version(one)
    writes: list[str] = []
    other.on(
        "request",
        lambda sent: (
            sent.method == "POST" and "peek=1" not in (sent.post_data or "") and writes.append(sent.url)
            if "/keep/" in sent.url
            else None
        ),
    )

    other.close(run_before_unload=False)
    one.reload()

    expect(one.get_by_role("textbox", name=REQUEST)).to_have_value("Newer.")
    assert writes == []
    assert Task.objects.get(pk=task.pk).version == 2


def test_leaving_a_page_makes_no_version_and_asks_nothing(task, visit):
    visitor = visit("author")
    page = visitor.go(task.get_absolute_url())
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.get_by_role("textbox", name=REQUEST).fill("Left behind.")

    page.goto("/")
    page.goto(task.get_absolute_url())

    expect(page.get_by_role("textbox", name=REQUEST)).to_have_value("Left behind.")
    saved = Autosave.objects.get(task=task, user__username="author")
    assert (asked, Task.objects.get(pk=task.pk).version) == ([], 1)
    assert saved.saved_fingerprint == ""


def test_save_in_review_asks_before_it_withdraws(task, visit):
    Task.objects.filter(pk=task.pk).update(state="in_review")
    page = visit("author").go(task.get_absolute_url())
    page.get_by_role("textbox", name=REQUEST).fill("Something else.")

    page.keyboard.press("Control+s")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("withdraws it")
    dialog.get_by_role("button", name="Keep it as a draft").click()

    expect(page.locator(STATUS)).to_contain_text("Draft saved")
    assert Task.objects.get(pk=task.pk).state == "in_review"
    page.keyboard.press("Control+s")
    dialog.get_by_role("button", name="Save version").click()
    expect(page.locator(STATUS)).to_contain_text("Saved as version 2")
    expect(page.locator("[data-workflow=pill]")).to_contain_text("draft")
