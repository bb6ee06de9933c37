"""A pilot from its start to reading a session."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from evaluation.models import Pilot
from tests.e2e.builders import a_finished_pilot, work


def test_started_pilot_updates_its_page(sample, visit):
    page = visit("author").go("/b/sample/p/radio_producer/")
    page.get_by_role("link", name="Pilot…").click()
    page.get_by_label("scripted-helpful – scripted").uncheck()
    page.get_by_label("scripted-asks – scripted").check()
    told = page.locator("#rest-told")
    expect(told).to_contain_text("judge scripted-judge")
    page.get_by_text("Everything else").click()
    page.get_by_label("Turns per session").fill("12")
    page.get_by_label("Turns per session").blur()
    expect(told).to_contain_text("at most 12 turns")
    page.get_by_text("Nessa Tremlett: choose among 7 tasks").click()
    page.get_by_label("Running order for 11 March").check()
    expect(page.get_by_text("1 task × 1 run = 1 session,")).to_contain_text("and what it depends on")
    page.get_by_role("button", name="Start the pilot").click()

    expect(page.get_by_text("0 of 2 sessions finished")).to_be_visible()
    pilot = Pilot.objects.get()
    work(pilot, steps=1)
    expect(page.get_by_text("1 of 2 sessions finished")).to_be_visible()
    work(pilot)
    expect(page.get_by_role("heading", name="Scores")).to_be_visible()
    expect(page.get_by_text("This page updates automatically")).to_have_count(0)
    expect(page.locator(".chip", has_text="scripted").first).to_be_visible()
    expect(page.locator("table.scores")).to_contain_text("strict")
    expect(page.locator("table.scores")).not_to_contain_text("compat")


def test_session_is_read_through_its_evidence(sample, visit):
    pilot = a_finished_pilot(sample, "radio_03_running_order")
    page = visit("author").go(pilot.get_absolute_url())
    page.get_by_role("link", name="open session Running order for 11 March, run 1").click()

    turns = page.get_by_role("navigation", name="Turns").get_by_role("link")
    turns.last.click()
    expect(page.locator(f"#turn-{turns.count()}")).to_be_in_viewport()

    changes = page.locator("[data-stop=change]")
    page.keyboard.press("n")
    expect(changes.first).to_be_focused()
    page.keyboard.press("n")
    expect(changes.nth(1)).to_be_focused()
    page.keyboard.press("f")
    expect(page.locator("[data-stop=failed]").first).to_be_focused()

    page.keyboard.press("j")
    current = page.locator("mark.evidence.current").first
    expect(current).to_be_in_viewport()
    expect(page.locator(".step.current")).to_have_count(1)
    passage = re.sub(r"\s+", " ", current.inner_text())
    quote = re.sub(r"\s+", " ", page.locator(".step.current .quoted").first.inner_text())
    assert passage[:40] in quote or quote.strip("“”…")[:40] in passage

    call = page.locator("details.call:not(.seen-file):not([open])").first
    call.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("result").first).to_be_visible()

    workspace = page.locator("#workspace")
    workspace.get_by_role("link", name="1", exact=True).click()
    expect(workspace.get_by_role("heading")).to_have_text("Workspace after turn 1")
    workspace.get_by_role("link", name="contributions_2027-03-11.csv").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("contributions_2027-03-11.csv")
    expect(page.locator(".file-text")).not_to_be_empty()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"/sessions/\d+/#turn-1$"))
