"""Parts of a task's page that follow what is typed."""

from __future__ import annotations

from playwright.sync_api import expect

from studio.models import User

INTENT = "What they need and do not say"


def test_the_outline_and_the_empty_text_follow_what_is_typed(radio, visit):
    task = radio["02_briefing"]
    page = visit("author").go(task.get_absolute_url())
    empty = page.locator("#intents .empty-rows")
    expect(empty).to_be_hidden()
    count = page.locator(".outline [data-part=intents] [data-part-count]")
    before = int(count.inner_text())

    page.get_by_role("button", name="+ intent").click()
    page.keyboard.type("Salt is short.")

    expect(count).to_have_text(str(before + 1))
    page.locator("#intents > .rows-edit").evaluate(
        "list => list.querySelectorAll('[data-row]').forEach(r => r.remove())"
    )
    expect(empty).to_be_visible()


def test_a_finding_that_the_restored_draft_resolves_is_not_drawn_again(radio, visit):
    task = radio["02_briefing"]
    page = visit("author").go(task.get_absolute_url())
    page.get_by_role("textbox", name=INTENT).nth(0).fill("Write the briefing.")
    page.get_by_role("textbox", name="Request").fill("Write the briefing.")
    page.keyboard.press("Control+s")
    expect(page.locator("[data-save-status]")).to_contain_text("Saved as version 2")
    page.reload()
    finding = page.locator("#intents .finding.slim")
    expect(finding.first).to_be_visible()

    page.get_by_role("textbox", name=INTENT).nth(0).fill("The microphone at the bridge is broken on Fridays.")
    expect(page.locator("[data-save-status]")).to_contain_text("Draft saved")
    page.reload()

    expect(page.locator("html[data-checked]")).to_be_attached()
    expect(page.locator("#intents .finding.fixed")).to_have_count(0)


def test_an_unsent_comment_is_there_again_at_its_own_target_and_ctrl_enter_sends_it(radio, visit):
    task = radio["02_briefing"]
    page = visit("reviewer").go(task.get_absolute_url())
    page.get_by_label("Comment on").select_option("the request")
    page.get_by_label("Your comment").fill("For whom?")
    page.goto("/")
    page.goto(task.get_absolute_url())
    expect(page.get_by_label("Your comment")).to_have_value("For whom?")
    title = page.get_by_role("textbox", name="Title")
    title.evaluate("area => { area.focus(); area.select(); }")

    page.keyboard.press("Control+Alt+s")

    expect(page.get_by_label("Your comment")).to_have_value("")
    expect(page.get_by_label("Comment on")).to_have_value("title")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_label("Comment on")).to_have_value("initial_request")
    expect(page.get_by_label("Your comment")).to_have_value("For whom?")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#request .comment-line")).to_contain_text("For whom?")
    comment = task.comments.get()
    assert (comment.field, comment.author) == ("initial_request", User.objects.get(username="reviewer"))
    expect(page.get_by_label("Your comment")).to_have_value("")
