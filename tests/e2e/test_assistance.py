"""Proposals of the scripted model, by keyboard, without losing what is typed meanwhile."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from playwright.sync_api import expect

from evaluation.assistance.worker import work_on
from evaluation.models import Proposal
from studio.drafts.load import load_task
from studio.models import Task

CRITERION = "What must be true in the end"
BUNDLE = "The briefing names the councillor's party and it gives the date of the next meeting."


@pytest.fixture
def task(radio) -> Task:
    return radio["02_briefing"]


def answer_requests() -> None:
    """Answer as a worker would, in another thread than the browser's."""

    def work() -> None:
        for pk in Proposal.objects.filter(state="asked").values_list("pk", flat=True):
            work_on(pk)
        connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result(timeout=60)


def criteria(page) -> list[str]:
    rows = page.locator("#checklist > .rows-edit > [data-row] > .grow .area > textarea")
    return rows.evaluate_all("all => all.map(a => a.value)")


def test_bundled_criterion_is_split_and_restored_with_an_old_version(task, visit):
    page = visit("author").go(task.get_absolute_url())
    before = criteria(page)
    page.keyboard.press("k")
    page.keyboard.type(BUNDLE)
    split_button = page.locator("[data-live=findings] .finding button[value^='split:checklist:new']")

    split_button.press("Enter")
    expect(page.locator("[data-proposal]")).to_contain_text("Waiting for a worker")
    answer_requests()
    panel = page.locator("[data-proposal]").filter(has_text="A split")
    expect(panel.get_by_role("button", name="Accept", exact=True)).to_be_visible()
    expect(panel).to_contain_text("scripted")
    page.get_by_role("textbox", name="Description").fill("Typed while it worked.")
    panel.get_by_role("textbox").last.fill("The briefing gives the date of the next meeting.")
    panel.get_by_role("button", name="Accept", exact=True).press("Enter")

    expect(page.locator("#checklist > .rows-edit > [data-row]")).to_have_count(len(before) + 2)
    assert criteria(page)[-1] == "The briefing gives the date of the next meeting."
    expect(page.get_by_role("textbox", name="Description")).to_have_value("Typed while it worked.")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    expect(page.locator("#checklist .origin").last).to_contain_text("edited")
    page.goto(f"{task.get_absolute_url()}versions/1/")
    page.get_by_role("button", name="Restore this version").click()
    expect(page.get_by_role("textbox", name="Description")).not_to_have_value("Typed while it worked.")
    page.wait_for_load_state()
    assert criteria(page) == before
    assert len(load_task(Task.objects.get(pk=task.pk)).checklist) == len(before)


def test_help_with_a_row_comes_with_its_focus_and_is_the_next_stop_of_the_keyboard(task, visit):
    page = visit("author").go(task.get_absolute_url())
    buttons = page.locator("#checklist > .rows-edit > [data-row] button[name=ask]")
    assert buttons.count()
    expect(page.locator("#checklist button[name=ask]:visible")).to_have_count(0)

    row = page.locator("#checklist > .rows-edit > [data-row]").filter(has=page.locator("button[name=ask]")).first
    row.get_by_role("textbox").first.focus()
    page.keyboard.press("Tab")

    help_with_it = row.get_by_role("button", name="Propose").first
    expect(help_with_it).to_be_visible()
    expect(help_with_it).to_be_focused()


def test_one_proposed_intent_is_accepted_and_the_others_dismissed(task, visit):
    page = visit("author").go(task.get_absolute_url())
    rows = page.locator("#intents > .rows-edit > [data-row]")
    count = rows.count()

    page.keyboard.press("I")
    expect(page.locator("#intents [data-proposal]")).to_be_visible()
    answer_requests()
    panel = page.locator("#intents [data-proposal]")
    expect(panel.get_by_role("button", name="Accept all")).to_be_visible()
    panel.get_by_role("button", name="Accept New intent").first.click()
    expect(rows).to_have_count(count + 1)
    panel.get_by_role("button", name="Dismiss", exact=True).click()

    expect(panel).to_contain_text("Accepted")
    page.reload()
    expect(page.locator("[data-proposal]")).to_have_count(0)
    expect(page.locator("#intents .origin")).to_have_count(1)


def test_accept_key_first_scrolls_to_the_proposal_and_open_menus_stay_open(task, visit):
    page = visit("author").go(task.get_absolute_url())
    rows = page.locator("#intents > .rows-edit > [data-row]")
    count = rows.count()
    page.keyboard.press("I")
    expect(page.locator("#intents [data-proposal]")).to_be_visible()
    page.keyboard.press("K")
    pasted = page.get_by_label("or paste a good result here")
    pasted.fill("The two dates stand side by side.")

    answer_requests()
    accept = page.locator("#intents").get_by_role("button", name="Accept all")
    expect(accept).to_be_visible()
    expect(pasted).to_be_visible()
    page.keyboard.press("t")
    expect(pasted).to_have_value("The two dates stand side by side.t")  # a letter while typing
    page.keyboard.press("Escape")
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press("t")

    expect(accept).to_be_in_viewport()
    expect(accept).to_be_focused()
    assert rows.count() == count
    page.keyboard.press("t")
    expect(page.locator("#intents [data-proposal]")).to_contain_text("Accepted")
    expect(rows).not_to_have_count(count)
