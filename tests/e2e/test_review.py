"""From draft to approved, and back."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_task
from studio.models import Membership, User
from studio.tasks.save import save_task


def test_author_cannot_approve_own_task_and_an_edit_needs_a_new_approval(sample, radio, visit):
    task = radio["02_briefing"]
    author = User.objects.get(username="author")
    Membership.objects.create(benchmark=sample, user=author, role="reviewer")
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("reviewer").page

    request = mine.get_by_role("textbox", name="Request")
    request.fill("Please write the briefing for Thursday.")
    mine.get_by_role("button", name="Save").first.click()
    mine.get_by_role("button", name="Submit for review…").click()
    mine.get_by_role("button", name="Submit for review", exact=True).click()
    expect(mine.get_by_role("banner")).to_contain_text("in review")
    expect(mine.get_by_text("someone else has to approve it")).to_be_visible()
    expect(mine.get_by_role("link", name="Approve", exact=True)).to_have_count(0)

    theirs.goto("/")
    theirs.get_by_role("link", name="Briefing for the footbridge interview").first.click()
    theirs.wait_for_url("**/tasks/*/")
    for key in "1234a":
        theirs.keyboard.press(key)
    expect(theirs.get_by_role("banner")).to_contain_text("approved")

    mine.reload()
    expect(mine.get_by_role("banner")).to_contain_text("approved")
    request.fill("Please write the briefing for Friday.")
    mine.get_by_role("button", name="Save version").first.click()
    mine.get_by_role("dialog").get_by_role("button", name="Save version").click()
    expect(mine.get_by_role("banner")).to_contain_text("draft")
    task.refresh_from_db()
    assert task.state == "draft"


def test_author_sees_the_changes_a_reviewer_requested(sample, radio, visit):
    task = radio["04_music_return"]
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("reviewer").page

    mine.keyboard.press("s")
    expect(mine.get_by_role("heading", name="for review")).to_be_visible()
    mine.keyboard.press("s")
    expect(mine.get_by_role("banner")).to_contain_text("in review")
    theirs.goto(task.get_absolute_url())
    expect(theirs.get_by_label("Review comment")).to_be_in_viewport()
    expect(theirs.get_by_role("link", name="Findings")).to_be_in_viewport()
    theirs.get_by_label("Review comment").fill("Say which February.")
    theirs.get_by_role("button", name="Request changes").click()
    expect(theirs.get_by_role("banner")).to_contain_text("changes requested")

    mine.goto("/")
    mine.get_by_role("link", name="Music return for February").first.click()
    expect(mine.get_by_role("complementary")).to_contain_text("Say which February.")


@pytest.mark.everyday
def test_comment_appears_beside_its_field_and_disappears_when_resolved(radio, visit):
    page = visit("reviewer").go(radio["02_briefing"].get_absolute_url())
    beside = page.locator("#request .comment-line")

    page.get_by_label("Comment on").select_option("the request")
    page.get_by_label("Your comment").fill("For <b>whom</b>?")
    page.get_by_role("button", name="Comment", exact=True).last.click()

    expect(beside).to_contain_text("For <b>whom</b>?")
    page.locator("summary").filter(has_text="Reply").click()
    page.get_by_label("Your reply").fill("For the presenter.")
    page.get_by_role("button", name="Reply").click()
    expect(beside).to_contain_text("1 reply")
    page.get_by_role("button", name="Resolve").click()
    expect(beside).to_be_hidden()


def test_earlier_task_is_chosen_as_a_source_by_number_and_title(radio, visit):
    page = visit("author").go(radio["03_running_order"].get_absolute_url())
    row = page.locator("#intents > .rows-edit > [data-row]").nth(3)

    row.get_by_role("textbox").first.click()
    row.get_by_role("button", name="Add a source").click()
    row.get_by_label("Source type").last.select_option("an earlier task")
    row.get_by_label("Which task").select_option(label="02 Briefing for the footbridge interview")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()

    sources = load_task(radio["03_running_order"]).intents[3].recoverable_from
    assert ("session", "radio_02_briefing") in [(source.kind, source.ref) for source in sources]
    page.get_by_role("link", name="Evidence").click()
    expect(page.locator(".evidence")).to_contain_text("02 Briefing for the footbridge")


SELECT = """(area, text) => {
    area.focus();
    const start = area.value.indexOf(text);
    area.setSelectionRange(start, start + text.length);
}"""


def test_suggestion_on_selected_text_is_applied_and_the_task_approved_by_keyboard(sample, radio, visit):
    task = radio["02_briefing"]
    author = visit("author").go(task.get_absolute_url())
    request = author.get_by_role("textbox", name="Request")
    request.fill("Please write the briefing for Thursday, as always.")
    author.keyboard.press("Control+s")
    expect(author.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible()
    author.get_by_role("button", name="Submit for review…").click()
    author.get_by_role("button", name="Submit for review", exact=True).click()
    expect(author.get_by_role("banner")).to_contain_text("in review")

    reviewer = visit("reviewer").go(task.get_absolute_url())
    field = reviewer.get_by_role("textbox", name="Request")
    field.evaluate(SELECT, "Thursday")
    reviewer.get_by_role("button", name="Suggest", exact=True).click()
    suggestion = reviewer.get_by_role("textbox", name="Suggested text")
    expect(suggestion).to_have_value("Thursday")
    reviewer.keyboard.type("Friday")
    reviewer.get_by_role("textbox", name="Your comment").fill("The council meets on Friday.")
    reviewer.get_by_role("button", name="Comment", exact=True).last.click()
    card = reviewer.get_by_role("article").filter(has_text="The council meets on Friday.")
    expect(card.locator("del")).to_have_text("Thursday")
    expect(reviewer.locator("#request mark.comment")).to_have_text("Thursday")

    author.goto("/inbox/")
    author.get_by_role("button", name="commented on").first.click()
    title = author.get_by_role("textbox", name="Title")
    title.fill("Typed and unsaved")
    author.get_by_role("article").get_by_role("button", name="Apply").click()
    expect(author.get_by_role("status").filter(has_text="Applied")).to_be_visible()
    expect(request).to_have_value("Please write the briefing for Friday, as always.")
    expect(title).to_have_value("Typed and unsaved")
    author.get_by_role("button", name="Submit for review…").click()
    author.get_by_role("button", name="Submit for review", exact=True).click()
    expect(author.get_by_role("banner")).to_contain_text("in review")

    reviewer.reload()
    expect(reviewer.get_by_text("someone else has to approve it")).to_be_visible()
    owner = visit("owner").go(task.get_absolute_url())
    owner.keyboard.press("a")
    expect(owner.get_by_role("group", name="Realistic").get_by_label("Yes")).to_be_focused()
    for key in "1234a":
        owner.keyboard.press(key)
    expect(owner.get_by_role("banner")).to_contain_text("approved")
    owner.keyboard.press("h")
    activity = owner.get_by_role("main")
    expect(activity).to_contain_text("suggested by")
    expect(activity).to_contain_text("The council meets on Friday.")
    expect(activity).to_contain_text("Well scoped")


def test_comment_on_selected_text_follows_the_text_while_the_author_types(sample, radio, visit):
    task = radio["03_running_order"]
    page = visit("author").go(task.get_absolute_url())
    request = page.get_by_role("textbox", name="Request")
    word = request.input_value().split()[2]
    request.evaluate(SELECT, word)
    page.keyboard.press("Control+Alt+m")
    page.keyboard.type("Is this the right word?")
    page.get_by_role("button", name="Comment", exact=True).last.click()
    expect(page.locator("#request mark.comment")).to_have_text(word)

    request.press("Control+Home")
    page.keyboard.type("Hello there, ")
    expect(page.locator("#request mark.comment")).to_have_text(word)
    card = page.get_by_role("article")
    card.locator("summary").filter(has_text="Reply").click()
    card.get_by_role("textbox", name="Your reply").fill("It is.")
    card.get_by_role("button", name="Reply").click()
    expect(card).to_contain_text("It is.")
    card.get_by_role("button", name="Resolve").click()
    expect(page.locator("#request mark.comment")).to_have_count(0)
    expect(page.get_by_text("1 resolved")).to_be_visible()


def test_rejected_comment_keeps_the_typed_text(sample, radio, visit):
    page = visit("reviewer").go(radio["03_running_order"].get_absolute_url())
    page.get_by_label("Comment on").select_option("title")
    page.get_by_text("Suggest a change").click()
    title = page.get_by_role("textbox", name="Title").input_value()
    suggestion = page.get_by_role("textbox", name="Suggested text")
    expect(suggestion).to_have_value(title)
    page.get_by_role("textbox", name="Your comment").fill("My long thought.")
    page.get_by_role("button", name="Comment", exact=True).last.click()

    expect(page.get_by_text("identical to the current text")).to_be_visible()
    expect(page.get_by_role("textbox", name="Your comment")).to_have_value("My long thought.")
    expect(suggestion).to_have_value(title)


def test_sections_that_were_read_stay_ticked_until_they_say_something_else(sample, radio, visit):
    task = radio["03_running_order"]
    page = visit("reviewer").go(f"{task.get_absolute_url()}read/")
    for heading in ("Request", "Hidden intents"):
        page.get_by_role("checkbox", name=f"Read: {heading}", exact=True).check()

    spec = load_task(task)
    author = User.objects.get(username="author")
    save_task(task.pk, spec.model_copy(update={"initial_request": "Write the running order."}), by=author)
    page.reload()

    expect(page.get_by_role("checkbox", name="Read: Hidden intents")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Read: Request", exact=True)).not_to_be_checked()
