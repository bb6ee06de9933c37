"""Signing in."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.models import Benchmark


@pytest.mark.everyday
def test_signing_in_opens_the_requested_page_and_a_wrong_password_does_not(sample, visit):
    page = visit(None).go("/b/sample/")

    page.get_by_label("Name").fill("author")
    page.get_by_label("Password").fill("not-this-one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Name")).to_have_value("author")

    page.get_by_label("Password").fill("author-demo")
    page.keyboard.press("Enter")
    expect(page).to_have_title("Sample benchmark · π-Bench Studio")

    page.locator("summary", has_text="Aki Author: account").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_benchmark_of_others_is_not_found(sample, visit):
    Benchmark.objects.create(slug="theirs", name="Theirs")
    window = visit("author")

    for path in ("/b/theirs/", "/b/theirs/import/", "/benchmarks/theirs/pilots/", "/benchmarks/theirs/releases/"):
        assert window.page.goto(path).status == 404
        expect(window.page.get_by_role("heading", level=1)).to_contain_text("not")
        expect(window.page.get_by_role("main")).not_to_contain_text("Theirs")
