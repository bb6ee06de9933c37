"""Charts of results: drawn from the table, linked to sessions, saved as files."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.builders import a_finished_pilot


def test_chart_is_drawn_links_to_its_sessions_and_can_be_saved(sample, visit):
    a_finished_pilot(sample, "radio_03_running_order")
    visitor = visit("author")
    page = visitor.go("/benchmarks/sample/results/")

    expect(page.locator("[data-drawn=proc_and_comp] svg circle")).to_have_count(1)
    page.goto("/benchmarks/sample/results/charts/?figure=proc_and_comp")
    expect(page.locator("[data-drawn=proc_and_comp] svg circle")).to_have_count(1)
    with page.expect_download() as drawing:
        page.get_by_role("button", name="SVG").click()
    saved = drawing.value.path().read_text()
    assert saved.startswith("<?xml") and "<circle" in saved and "var(" not in saved and "<style" not in saved
    with page.expect_download() as picture:
        page.get_by_role("button", name="PNG").click()
    assert picture.value.path().read_bytes().startswith(b"\x89PNG")

    page.locator("[data-drawn] a").first.click()
    expect(page.get_by_role("heading", name="scripted-helpful")).to_be_visible()
    assert visitor.failures == []
