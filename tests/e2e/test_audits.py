"""An audit, judged blind and by keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotations.models import Judgment, Packet
from tests.e2e.builders import a_finished_pilot

ANSWERS = "ynyuynyyny"


@pytest.mark.everyday
def test_ten_decisions_are_judged_by_keyboard_and_blind(sample, visit):
    pilot = a_finished_pilot(sample, "radio_03_running_order")
    owner, auditor = visit("owner").go(pilot.get_absolute_url()), visit("auditor").page
    owner.keyboard.press("a")
    owner.get_by_role("radio", name="A single decision").check()
    owner.get_by_role("spinbutton", name="How many").fill("10")
    owner.get_by_role("spinbutton", name="People for each").fill("1")
    owner.get_by_role("spinbutton", name="Ask single decisions again, in truth").fill("0")
    owner.get_by_role("button", name="Open the audit").click()
    expect(owner.get_by_text("0 of 10 decisions judged")).to_be_visible()

    auditor.goto("/")
    for key in "ga":
        auditor.keyboard.press(key)
    expect(auditor).to_have_title("Audits · π-Bench Studio")
    auditor.get_by_role("link", name="Judge", exact=True).click()
    auditor.wait_for_url("**/judge/*/")
    hidden = {packet.position: packet.sealed for packet in Packet.objects.all()}
    for number, answer in enumerate(ANSWERS):
        expect(auditor.locator("b", has_text=str(number + 1)).first).to_be_visible()
        position = int(auditor.url.rstrip("/").rsplit("/", 1)[-1])
        content = auditor.content()
        assert hidden[position]["reasons"]["decision"] not in content
        assert "scripted-judge" not in content and "scripted-helpful" not in content
        if number == 4:  # reconsider the previous decision
            with auditor.expect_navigation():
                auditor.keyboard.press("z")
            with auditor.expect_navigation():
                auditor.keyboard.press("n")
        with auditor.expect_navigation():
            auditor.keyboard.press(answer)

    expect(auditor.get_by_role("heading", name="You have judged everything assigned to you")).to_be_visible()
    expect(auditor.get_by_role("main")).not_to_contain_text("opposite of the judge")
    auditor.keyboard.press("r")
    expect(auditor.get_by_text("How often people disagree with the judge")).to_be_visible()
    expect(auditor.locator(".rate")).to_contain_text("n = ")
    assert [row.in_short for row in Judgment.objects.order_by("created_at")] == [
        {"y": "yes", "n": "no", "u": "unsure", "z": "undone"}[key] for key in ANSWERS[:4] + "zn" + ANSWERS[4:]
    ]


def test_auditor_cannot_see_verdicts_on_pilot_pages(sample, visit):
    pilot = a_finished_pilot(sample, "radio_04_music_return")
    owner = visit("owner").go(f"/audits/new/?benchmark=sample&pilot={pilot.pk}")
    owner.get_by_role("radio", name="A single decision").check()
    owner.get_by_role("button", name="Open the audit").click()
    expect(owner.get_by_text("decisions judged")).to_be_visible()

    page = visit("auditor").go(pilot.get_absolute_url())
    expect(page.get_by_text("closed to you while you judge its decisions blind")).to_be_visible()
    expect(page.get_by_role("heading", name="Scores")).to_have_count(0)
    page.goto(page.url.replace(pilot.get_absolute_url(), "/pilots/"))
    expect(page.get_by_text("1 pilot is closed to you")).to_be_visible()
