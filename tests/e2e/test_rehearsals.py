"""Rehearsing a task in the assistant's seat and in the user's seat."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from evaluation.models import Session
from studio.drafts.load import load_task
from tests.e2e.accessibility import violations
from tests.e2e.builders import work

SELECT = """() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector('[data-extractable="1-agent"] li'));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    document.dispatchEvent(new MouseEvent("mouseup", {bubbles: true}));
}"""


def assert_accessible(page: Page) -> None:
    size = page.viewport_size
    assert size
    assert violations(page) == []
    page.set_viewport_size(size)


def test_author_plays_both_seats_and_extracts_an_intent(radio, visit):
    task = radio["02_briefing"]
    before = len(load_task(task).intents)
    page = visit("author").go(task.get_absolute_url())

    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Rehearse")
    assert_accessible(page)
    page.keyboard.press("b")
    expect(page.get_by_label("Your reply as the assistant")).to_be_focused()
    page.keyboard.type("- The bridge stays shut until May.\n- Who signs it off?")
    page.reload()
    expect(page.get_by_label("Your reply as the assistant")).to_have_value(
        "- The bridge stays shut until May.\n- Who signs it off?"
    )
    hidden = page.locator("#intent-1 > :not(.step-head)").first
    expect(page.get_by_label("Hide open intents")).to_be_checked()  # an assistant does not see them
    expect(hidden).to_be_hidden()
    page.get_by_label("Your reply as the assistant").press("Control+Enter")
    expect(page.get_by_text("is judging which intents the reply met")).to_be_visible()
    work(None)
    expect(page.get_by_role("region", name="Turn 1")).to_contain_text("stays shut until May")
    expect(page.locator("#intent-1")).to_contain_text("turn 1")
    expect(hidden).to_be_visible()

    page.get_by_label("Your reply as the assistant").fill("Half a thought")
    page.evaluate(SELECT)
    page.get_by_role("toolbar").get_by_role("button", name="Make an intent").click()
    expect(page.locator("#extracted-1-agent")).to_contain_text(f"Extracted as intent {before + 1} in the draft")
    expect(page.get_by_label("Your reply as the assistant")).to_have_value("Half a thought")
    assert load_task(task).intents[-1].content == "The bridge stays shut until May."
    assert_accessible(page)
    page.get_by_role("button", name="End here").click()
    expect(page.get_by_role("heading", name="Rehearsal over")).to_be_visible()
    expect(page.get_by_text("The checklist is being graded.")).to_be_visible()
    work(None)
    expect(page.get_by_text("Comp for this session")).to_be_visible()
    assert_accessible(page)

    page.get_by_role("link", name="Rehearse again").first.click()
    page.get_by_label("Play the user").check()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("is working on its answer")).to_be_visible()
    work(None)
    expect(page.get_by_text("What did this reply do?")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("radiogroup").first.get_by_label("met it").check()
    page.get_by_label("What you say next").fill("Good. And the questions?")
    page.get_by_label("What you say next").press("Control+Enter")
    expect(page.get_by_text("is working on its answer")).to_be_visible()
    work(None)
    expect(page.get_by_role("region", name="Turn 2")).to_contain_text("Good. And the questions?")
    expect(page.locator("#intent-1")).to_contain_text("completed")
    expect(page.get_by_text("What did this reply do?")).to_be_visible()
    assert not Session.objects.exclude(state__in=["awaiting", "finished"]).exists()
