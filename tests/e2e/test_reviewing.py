"""From draft to approved, and back."""

from __future__ import annotations

from playwright.sync_api import expect

from studio.models import Membership, User


def test_nobody_approves_what_they_wrote_and_an_edit_needs_a_new_approval(sample, radio, visit):
    task = radio["02_briefing"]
    author = User.objects.get(username="author")
    Membership.objects.create(benchmark=sample, user=author, role="reviewer")
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("reviewer").page

    request = mine.get_by_role("textbox", name="What the user writes")
    request.fill("Please write the briefing for Thursday.")
    mine.get_by_role("button", name="Save").first.click()
    mine.get_by_role("button", name="Submit for review").click()
    expect(mine.get_by_role("banner")).to_contain_text("in review")
    expect(mine.get_by_text("someone else has to approve it")).to_be_visible()
    expect(mine.get_by_role("button", name="Approve", exact=True)).to_have_count(0)

    theirs.goto("/")
    theirs.get_by_role("link", name="Briefing for the footbridge interview").first.click()
    theirs.get_by_role("button", name="Approve", exact=True).click()
    expect(theirs.get_by_role("banner")).to_contain_text("approved")

    mine.reload()
    expect(mine.get_by_role("banner")).to_contain_text("approved")
    request.fill("Please write the briefing for Friday.")
    mine.get_by_role("button", name="Save").first.click()
    expect(mine.get_by_role("banner")).to_contain_text("draft")
    task.refresh_from_db()
    assert task.state == "draft"


def test_a_reviewer_says_what_should_change_and_the_author_finds_it(sample, radio, visit):
    task = radio["04_music_return"]
    mine, theirs = visit("author").go(task.get_absolute_url()), visit("reviewer").page

    mine.keyboard.press("s")
    expect(mine.get_by_role("banner")).to_contain_text("in review")
    theirs.goto(task.get_absolute_url())
    theirs.get_by_label("Your words").fill("Say which February.")
    theirs.get_by_role("button", name="Ask for changes").click()
    expect(theirs.get_by_role("banner")).to_contain_text("changes requested")

    mine.goto("/")
    mine.get_by_role("link", name="Music return for February").first.click()
    expect(mine.get_by_role("complementary")).to_contain_text("Say which February.")
