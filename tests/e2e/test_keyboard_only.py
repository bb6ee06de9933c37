"""From nothing to an approved task, by keyboard alone, in under five minutes."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_task
from studio.models import Role, Task
from tests.e2e.typist import Typist
from tests.factories import BenchmarkFactory, a_persona, member

FIVE_MINUTES = 300
TITLE = "Baking plan for Saturday"
REQUEST = "Please make Saturday's baking plan from orders.csv and save it as plan.md."
INTENTS = (
    "The rye goes in before the rolls.",
    "Nothing leaves the oven after seven.",
    "She wants the plan saved as plan.md.",  # which the request says already
)
UNSAID = "The two sourdough loaves share one tray."
ITEMS = (
    "- The plan bakes the rye before the rolls.\n"
    "- In the plan every bread is out of the oven by 7:00.\n"
    "- The plan puts both sourdough loaves on one tray."
)
ORDERS = "bread,pieces\nrye,4\nrolls,60\nsourdough,2"


@pytest.fixture
def craft(transactional_db, browser):
    benchmark = BenchmarkFactory(name="Craftspeople")
    member(benchmark, Role.AUTHOR)
    member(benchmark, Role.REVIEWER)
    a_persona(benchmark, "baker")
    return benchmark


def test_first_task_goes_from_nothing_to_approved_by_keyboard_alone(craft, visit):
    author, reviewer = (row.user for row in craft.memberships.order_by("pk"))
    writing, reading = visit(author), visit(reviewer)
    writing.context.grant_permissions(["clipboard-read", "clipboard-write"])
    mine = Typist(writing.go("/"))
    mine.page.evaluate("text => navigator.clipboard.writeText(text)", ITEMS)
    started = time.monotonic()

    mine.open_from_palette("Baker")
    mine.page.wait_for_url("**/p/baker/")
    mine.press("n")
    mine.page.wait_for_url("**/new/")
    mine.write(TITLE)
    mine.press("Tab")
    mine.write(REQUEST)
    mine.press("Control+s")
    mine.page.wait_for_url("**/tasks/*/")

    mine.press("i")
    for number, intent in enumerate(INTENTS):
        if number:
            mine.press("Enter")
        mine.write(intent)
    mine.press("Escape", "k", "Control+v")
    items = mine.page.locator("#checklist > .rows-edit > [data-row]")
    expect(items).to_have_count(3)
    for number in ("3", "2", "1"):
        mine.press("Alt+l", number, "Escape", "Control+Home", "ArrowUp")
    for number in (1, 2, 3):
        expect(items.nth(number - 1).locator("[data-linked-intents]")).to_have_text(f" {number}")

    mine.press("Escape", "f")
    expect(mine.page.get_by_role("textbox", name="File name")).to_be_focused()
    mine.write("orders.csv")
    mine.press("Enter")
    expect(mine.page.get_by_role("textbox", name="Text of")).to_be_focused()
    mine.write(ORDERS)
    mine.press("Escape")
    mine.tab_to("Done")
    mine.press("Enter")
    expect(mine.page.locator("[data-file-panel]")).to_contain_text("sourdough")

    pane = mine.page.get_by_role("complementary")
    findings = pane.locator("[data-finding]")
    leak, unseen = (findings.filter(has_text=text) for text in ("already:", "are not shown it"))
    expect(leak).to_be_visible()
    mine.step_to(leak)
    mine.press("Enter")
    expect(mine.page.get_by_role("textbox", name="What they need and do not say").last).to_be_focused()
    mine.press("Control+a")
    mine.write(UNSAID)
    expect(leak).to_have_count(0)
    mine.press("Escape")
    mine.step_to(unseen)
    mine.tab_to("Show it to the judges")
    mine.press("Enter")
    expect(mine.page.get_by_label("Workspace files, one per line")).to_have_value("plan.md")
    expect(findings).to_have_count(0)
    mine.press("Control+s")
    expect(mine.page.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    mine.press("Escape", "s")
    expect(mine.page.get_by_role("heading", name="for review")).to_be_visible()
    mine.press("s")
    expect(mine.page.get_by_role("banner")).to_contain_text("in review")

    theirs = Typist(reading.go("/"))
    theirs.open_from_palette(TITLE)
    theirs.page.wait_for_url("**/tasks/*/")
    theirs.press("1", "2", "3", "4", "a")
    expect(theirs.page.get_by_role("banner")).to_contain_text("approved")

    row = Task.objects.get()
    spec = load_task(row)
    assert row.state == "approved"
    assert [intent.content for intent in spec.intents] == [*INTENTS[:2], UNSAID]
    assert [item.follows_from for item in spec.checklist] == [(intent.uid,) for intent in spec.intents]
    assert [file.path for file in spec.assets] == ["orders.csv"]
    needed = mine.seconds + theirs.seconds
    took = time.monotonic() - started
    print(f"{mine.characters + theirs.characters} characters and {mine.keys + theirs.keys} other keys:")
    print(f"{needed:.0f} s at a person's pace, {took:.0f} s here")
    assert needed < FIVE_MINUTES * 0.8 and took < FIVE_MINUTES * 0.4
