"""Judging in a browser by keyboard alone."""

from __future__ import annotations

from playwright.sync_api import Route, expect

from annotations.models import Judgment
from tests.annotations.builders import make_campaign


def test_audit_is_judged_by_keyboard_alone(visit):
    campaign, (ana,) = make_campaign(size=3)
    page = visit(ana).go(f"/audits/{campaign.pk}/judge/")
    press = page.keyboard.press
    first = page.url
    for key in ("j", "j", "e", "c"):
        press(key)
    page.keyboard.type("y is for yes")
    press("Escape")
    with page.expect_navigation():
        press("y")
    with page.expect_navigation():
        press("z")
    expect(page).to_have_url(first)
    with page.expect_navigation():
        press("n")
    with page.expect_navigation():
        press("u")
    press("?")
    expect(page.locator("#keys[open]")).to_be_visible()
    press("Escape")
    with page.expect_navigation():
        press("y")
    expect(page.locator("body")).to_contain_text("You have judged everything assigned to you")

    answers = [(row.in_short, row.evidence, row.comment) for row in Judgment.objects.order_by("created_at")]
    passage = "Send the papers by five tomorrow."
    assert answers == [
        ("yes", [passage], "y is for yes"),
        ("undone", [], ""),
        ("no", [passage], "y is for yes"),
        ("unsure", [], ""),
        ("yes", [], ""),
    ]
    assert all(row.milliseconds is not None for row in Judgment.objects.exclude(state="undone"))


def test_judging_works_without_scripts_on_a_small_screen(visit):
    campaign, (ana,) = make_campaign(size=1)
    page = visit(ana, viewport={"width": 390, "height": 844}, java_script_enabled=False).page

    page.goto(f"/audits/{campaign.pk}/judge/")
    page.get_by_label("Supporting passages").fill("by five tomorrow")
    page.get_by_role("button", name="Unsure").click()

    expect(page.locator("body")).to_contain_text("You have judged everything assigned to you")
    assert [(row.in_short, row.evidence) for row in Judgment.objects.all()] == [("unsure", ["by five tomorrow"])]


def test_an_answer_given_without_a_connection_is_kept_and_sent_when_it_is_back(visit):
    campaign, (ana,) = make_campaign(size=1)
    visitor = visit(ana)
    page, context = visitor.page, visitor.context
    page.goto(f"/audits/{campaign.pk}/judge/")
    page.get_by_label("Comment").first.fill("Seen in a tunnel.")
    context.set_offline(True)

    page.get_by_role("button", name="Yes").click()

    page.locator(".save-notice").get_by_text("Your answer is kept here").wait_for()
    with page.expect_navigation():
        context.set_offline(False)
    assert [(row.in_short, row.comment) for row in Judgment.objects.all()] == [("yes", "Seen in a tunnel.")]


def test_a_comment_on_a_judgment_outlives_a_lost_session(visit):
    campaign, (ana,) = make_campaign(size=1)
    visitor = visit(ana)
    page, context = visitor.page, visitor.context
    page.goto(f"/audits/{campaign.pk}/judge/")
    cookies = context.cookies()
    page.get_by_label("Comment").first.fill("Written too late.")
    context.clear_cookies()
    page.get_by_role("button", name="n No", exact=True).click()
    page.locator(".save-notice").get_by_role("link", name="Sign in").wait_for()

    context.add_cookies(cookies)
    page.reload()

    expect(page.get_by_label("Comment").first).to_have_value("Written too late.")


def fail_posts(route: Route) -> None:
    if route.request.method == "POST":
        route.fulfill(status=500)
    else:
        route.continue_()


def test_an_answer_that_is_not_stored_comes_back_although_the_next_was_shown(visit):
    campaign, (ana,) = make_campaign(size=3)
    page = visit(ana).page
    with page.expect_response(lambda answer: "after=" in answer.url):
        page.goto(f"/audits/{campaign.pk}/judge/")
    first = page.url
    page.get_by_label("Comment").first.fill("Keep me.")
    page.route("**/judge/*/", fail_posts)

    page.get_by_role("button", name="Yes").click()

    page.locator(".save-notice").get_by_text("Something went wrong on our side").wait_for()
    expect(page).to_have_url(first)
    expect(page.get_by_label("Comment").first).to_have_value("Keep me.")
    page.unroute("**/judge/*/")
    with page.expect_navigation():
        page.get_by_role("button", name="Try again").click()
    expect(page).not_to_have_url(first)
    assert [(row.in_short, row.comment) for row in Judgment.objects.all()] == [("yes", "Keep me.")]
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('studio:judging:'))") == []


def test_an_answer_that_the_server_refuses_is_shown_where_it_was_given_although_the_next_was_shown(visit):
    campaign, (ana,) = make_campaign(size=3)
    page = visit(ana).page
    with page.expect_response(lambda answer: "after=" in answer.url):
        page.goto(f"/audits/{campaign.pk}/judge/")
    first = page.url
    page.route(
        "**/judge/*/",
        lambda route: (
            route.fulfill(content_type="text/html", body="Refused.")
            if route.request.headers.get("x-studio-script")
            else route.continue_()
        ),
    )

    with page.expect_request(lambda sent: sent.method == "POST" and not sent.headers.get("x-studio-script")) as asked:
        page.get_by_role("button", name="Yes").click()

    assert asked.value.url == first
