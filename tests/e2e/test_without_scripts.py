"""The studio without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from annotations.models import Judgment
from studio.domain.task import TaskSpec
from studio.drafts.load import load_task
from tests.annotations.builders import open_audit
from tests.e2e.builders import a_finished_pilot


@pytest.mark.everyday
def test_author_signs_in_and_edits_a_task_without_scripts(sample, radio, visit):
    task = radio["02_briefing"]
    intents = len(load_task(task).intents)
    page = visit(None, java_script_enabled=False).go(task.get_absolute_url())

    page.get_by_label("Username").fill("author")
    page.get_by_label("Password").fill("author-demo")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("textbox", name="Request").fill("Plain words.")
    page.get_by_role("button", name="+ intent").click()
    page.get_by_role("textbox", name="What they need and do not say").last.fill("Plain needs.")
    page.get_by_role("button", name="Save version", exact=True).first.click()

    expect(page.get_by_role("status").filter(has_text="Saved as version")).to_be_visible()
    task.refresh_from_db()
    spec = load_task(task)
    assert (spec.initial_request, len(spec.intents), spec.intents[-1].content) == (
        "Plain words.",
        intents + 1,
        "Plain needs.",
    )


def test_reference_is_attached_previewed_and_removed_without_scripts(radio, visit):
    task = radio["03_running_order"]
    page = visit("author", java_script_enabled=False).go(task.get_absolute_url())
    row = page.locator("#workflow [data-artifact]").first
    good = {"name": "good.csv", "mimeType": "text/csv", "buffer": b"time,item\n10:00,News\n"}

    row.get_by_label("Reference for").set_input_files(good)
    page.get_by_role("button", name="Save version", exact=True).first.click()
    row.get_by_role("link", name="Reference", exact=True).click()
    expect(page.get_by_role("cell", name="News")).to_be_visible()
    page.go_back()
    row.get_by_role("button", name="Remove reference").click()
    page.get_by_role("button", name="Save version", exact=True).first.click()

    expect(row.get_by_role("link", name="Reference", exact=True)).to_have_count(0)
    task.refresh_from_db()
    assert load_task(task).references == ()
    assert [len(TaskSpec.model_validate(revision.spec).references) for revision in task.revisions.all()] == [0, 1, 0]


def test_decision_is_judged_without_scripts(sample, visit):
    pilot = a_finished_pilot(sample, "radio_04_music_return")
    audit = open_audit(pilot, size=2, by=sample.created_by)
    page = visit("auditor", java_script_enabled=False).go(audit.get_absolute_url())

    page.get_by_role("link", name="Start judging").first.click()
    page.get_by_label("Comment").fill("It is plain.")
    page.get_by_role("button", name="Yes").click()

    expect(page.get_by_text("2 of 2")).to_be_visible()
    assert [(row.in_short, row.comment) for row in Judgment.objects.all()] == [("yes", "It is plain.")]
