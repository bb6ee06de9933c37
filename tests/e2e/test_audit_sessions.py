"""Judging whole sessions in a browser."""

from __future__ import annotations

from playwright.sync_api import expect

from annotations.models import Judgment
from tests.evaluation.audits.test_sessions import RIGHT, session_audit


def test_session_is_judged_by_keyboard_alone_and_saved_as_one_goes(visit):
    campaign, (ana, *_) = session_audit()
    page = visit(ana).go(f"/audits/{campaign.pk}/judge/")
    press = page.keyboard.press
    question = page.locator("[data-question].current")
    expect(question).to_contain_text("harbour fee")

    press("y")  # no answer to this question
    for number, key in enumerate(("1", "3", "y"), start=2):
        press(key)
        expect(question).to_have_attribute("data-question", str(number))
    press("z")
    expect(question).to_have_attribute("data-question", "3")
    press("k")
    press("2")
    press("y")
    expect(page.locator("[data-count]")).to_have_text("3 of 4 answered")
    expect(page.locator("[data-autosaved]")).to_have_text("Saved")
    page.reload()
    expect(page.locator("[data-count]")).to_have_text("3 of 4 answered")
    expect(question).to_have_attribute("data-question", "4")
    press("n")
    with page.expect_navigation():
        press("Enter")

    expect(page.locator("body")).to_contain_text("You have judged everything assigned to you")
    assert Judgment.objects.get().by_question == RIGHT
