"""A release is cut, downloaded and imported."""

from __future__ import annotations

from playwright.sync_api import expect

from evaluation.models import ReleaseRequest
from evaluation.releases.requests import make_release
from studio.drafts.load import load_task
from studio.models import Task, User
from studio.review.workflow import approve
from studio.tasks.transitions import submit
from tests.e2e.builders import a_finished_pilot


def test_blockers_are_listed_and_an_accepted_release_can_be_imported(sample, radio, visit, tmp_path):
    a_finished_pilot(sample, "radio_04_music_return")
    for task in Task.objects.filter(persona__benchmark=sample)[1:]:
        submit(task.pk, by=User.objects.get(username="author"))
        approve(task.pk, by=User.objects.get(username="reviewer"))
    page = visit("manager").go("/releases/")
    page.get_by_role("link", name="Sample benchmark: what blocks it").click()

    blockers = page.get_by_role("main").get_by_role("listitem")
    expect(page.get_by_role("heading", name="What blocks a release")).to_be_visible()
    expect(
        blockers.filter(has_text="A reusable clock").or_(blockers.filter(has_text="radio_01_clock")).first
    ).to_be_visible()
    page.get_by_role("textbox", name="Version").fill("1.0")
    page.get_by_role("button", name="Accept exceptions and release").click()
    expect(page.get_by_role("button", name="Accept exceptions and release")).to_be_visible()  # not without a reason
    page.get_by_label("Reason for the exceptions").fill("Practice, for a class.")
    page.get_by_role("button", name="Accept exceptions and release").click()

    expect(page.get_by_role("heading", name="Release 1.0 is being made")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Waiting for a worker…")).to_be_visible()
    make_release(ReleaseRequest.objects.get().pk)
    expect(page.get_by_role("heading", name="Sample benchmark 1.0")).to_be_visible()
    expect(page.get_by_text("Mina Manager accepted")).to_contain_text("Practice, for a class.")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download", exact=True).click()
    pack = tmp_path / started.value.suggested_filename
    started.value.save_as(pack)

    page = visit("owner").go("/benchmarks/new/")
    page.get_by_role("textbox", name="Name", exact=True).fill("Elsewhere")
    page.get_by_role("textbox", name="Short name").fill("elsewhere")
    page.get_by_role("main").get_by_role("button").first.click()
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("A zip").set_input_files(pack)
    page.get_by_role("button", name="Preview import").click()
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_role("status").filter(has_text="Imported:")).to_be_visible()

    def specs(slug: str) -> list[object]:
        rows = Task.objects.filter(persona__benchmark__slug=slug).order_by("task_id")
        return [load_task(row).model_dump(exclude={"source"}) for row in rows]

    assert len(specs("sample")) > 10 and specs("elsewhere") == specs("sample")
