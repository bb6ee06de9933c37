"""From an empty studio to a released pack, told once: everyone starts on Home and does what waits for them there."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Page, expect

from evaluation.models import ModelEndpoint, Pilot, ReleaseRequest
from evaluation.releases.requests import make_release
from studio.models import Benchmark, Membership, Task, User
from tests.e2e.builders import work
from tests.e2e.conftest import SCRIPTED

REQUEST = "Please make Saturday's baking plan from the order book and save it as plan.md."
INTENT = "Nothing leaves the oven after seven, because the van goes then."
CRITERION = "In the plan every bread is out of the oven by 7:00."
ROLES = {"owner": "owner", "rosa": "reviewer", "abel": "auditor", "anna": "auditor"}
MOST_CLICKS = 20
COUNT_CLICKS = (
    "addEventListener('click', e => e.detail && (localStorage.clicks = +(localStorage.clicks || 0) + 1), true)"
)


@pytest.fixture
def people(transactional_db, browser) -> dict[str, User]:
    for name in SCRIPTED:
        row = {"base_url": "scripted:", "model": f"scripted-{name}", "scripted": True}
        ModelEndpoint.objects.get_or_create(name=f"scripted-{name}", defaults=row)
    return {name: User.objects.create_user(name, display_name=name.capitalize()) for name in ROLES}


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


def follow(page: Page, name: str | re.Pattern[str]) -> None:
    page.get_by_role("link", name=name).first.click()


def test_from_the_first_task_to_a_released_pack(people, visit):
    owner = visit(people["owner"]).go("/")
    follow(owner, "Create a benchmark")
    owner.get_by_role("textbox", name="Name", exact=True).fill("Bakers")
    press(owner, "Create benchmark")
    bakers = Benchmark.objects.get(slug="bakers")
    for name, role in list(ROLES.items())[1:]:
        Membership.objects.create(benchmark=bakers, user=people[name], role=role)
    owner.goto("/b/bakers/members/")
    owner.locator("#invite").get_by_label("Role").select_option("author")
    press(owner, "Invite")
    link = re.search(r"/invitation/\S+", owner.get_by_role("status").locator("pre").inner_text())
    assert link
    owner.goto("/b/bakers/personas/new/")
    owner.get_by_label("Name", exact=True).fill("Berta Baker")
    press(owner, "Create persona")
    expect(owner.get_by_role("banner")).to_contain_text("Berta Baker")

    author = visit(None)
    author.page.add_init_script(COUNT_CLICKS)
    ada = author.go(link.group())
    ada.get_by_label("Name", exact=False).first.fill("Ada")
    ada.get_by_label("Username").fill("ada")
    ada.get_by_label("Email").fill("ada@example.org")
    ada.get_by_label("Password").fill("rye and water")
    press(ada, "Create account")
    expect(ada).to_have_url(re.compile("/b/bakers/$"))
    ada.goto("/")
    ada.evaluate("localStorage.clear()")
    started = time.monotonic()
    press(ada, "Guide me through it")
    expect(ada.get_by_role("heading", name="A task, taken apart")).to_be_visible()
    press(ada, "I have read it")
    ada.get_by_label("Title").fill("Baking plan for Saturday")
    ada.get_by_label("Request").fill(REQUEST)
    press(ada, "Create task")
    expect(ada.get_by_text("Clear the errors: Baking plan for Saturday.")).to_be_visible()
    press(ada, "+ intent")
    ada.keyboard.type(INTENT)
    press(ada, "+ item")
    ada.keyboard.type(CRITERION)
    for key in ("Alt+l", "1", "Escape"):
        ada.keyboard.press(key)
    ada.locator("summary").filter(has_text="What judges see").click()
    ada.get_by_label("Workspace files, one per line").fill("plan.md")
    press(ada, "Save version")
    expect(ada.locator("[data-save-status]")).to_contain_text("Saved as version")
    press(ada, "Submit for review…")
    ada.get_by_role("radio", name=re.compile("Rosa")).check()
    press(ada, "Submit for review")
    expect(ada.get_by_role("banner")).to_contain_text("in review")
    seconds, clicks = time.monotonic() - started, int(ada.evaluate("localStorage.clicks"))
    print(f"A first task: {clicks} clicks, {seconds:.0f} s here")
    assert clicks <= MOST_CLICKS

    rosa = visit(people["rosa"]).go("/")
    follow(rosa, "Baking plan for Saturday")
    rosa.wait_for_load_state()
    for key in "1234a":
        rosa.keyboard.press(key)
    expect(rosa.get_by_role("banner")).to_contain_text("approved")

    owner.goto("/pilots/")
    follow(owner, "Start a pilot")
    press(owner, "Start the pilot")
    expect(owner.get_by_role("heading", name="scripted-helpful")).to_be_visible()
    work(Pilot.objects.get())
    owner.reload()
    follow(owner, "Audit these decisions")
    owner.get_by_label("A single decision").check()
    owner.get_by_role("spinbutton", name="How many").fill("2")
    owner.get_by_role("spinbutton", name="People for each").fill("2")
    owner.get_by_role("spinbutton", name="Ask single decisions again, in truth").fill("0")
    press(owner, "Open the audit")
    expect(owner.get_by_text("0 of 2 decisions judged")).to_be_visible()

    for name, answers in {"abel": "yy", "anna": "nn"}.items():
        auditor = visit(people[name]).go("/")
        follow(auditor, "Audit of pilot 1")
        auditor.wait_for_url("**/judge/*/")
        for answer in answers:
            auditor.wait_for_load_state()
            with auditor.expect_navigation():
                auditor.keyboard.press(answer)
        expect(auditor.get_by_role("heading", name="You have judged everything")).to_be_visible()

    owner.goto("/")
    expect(owner.get_by_text("auditors disagree on 2")).to_be_visible()
    follow(owner, "Audit of pilot 1")
    for left in ("1 left.", "Nothing else is left"):
        owner.get_by_label("Why", exact=True).fill("The reply says so.")
        press(owner, "Decide yes")
        expect(owner.get_by_text(left)).to_be_visible()

    owner.goto("/")
    follow(owner, "What blocks the next release")
    owner.get_by_role("textbox", name="Version").fill("1.0")
    owner.get_by_label("Reason for the exceptions").fill("A first look; a script played the agent.")
    press(owner, "Accept exceptions and release")
    expect(owner.get_by_role("heading", name="Release 1.0 is being made")).to_be_visible()
    make_release(ReleaseRequest.objects.get().pk)
    expect(owner.get_by_role("heading", name="Bakers 1.0")).to_be_visible()
    with owner.expect_download() as pack:
        owner.get_by_role("link", name="Download", exact=True).click()
    assert Task.objects.get().state == "released"

    owner.goto("/b/bakers/import/")
    owner.get_by_label("A zip").set_input_files(pack.value.path())
    press(owner, "Preview import")
    expect(owner.get_by_text("1 of its 1 task was approved there, by Rosa.")).to_be_visible()
