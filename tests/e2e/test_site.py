"""A site in a browser: nothing is asked elsewhere, and everybody can read it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from evaluation.runner.command import main
from tests.e2e.accessibility import violations

PACK = Path(__file__).parents[2] / "fixtures" / "sample"


def test_site_asks_no_other_server_fits_a_phone_and_is_accessible(browser: Browser, tmp_path: Path):
    words = ["run", str(PACK), "--persona", "radio_producer", "--model", "scripted:helpful"]
    assert main([*words, "--out", str(tmp_path / "results")]) == 0
    assert main(["site", str(PACK), str(tmp_path / "results"), "--out", str(tmp_path / "site")]) == 0
    window = browser.new_page(viewport={"width": 1280, "height": 900})
    asked: list[str] = []
    told: list[str] = []
    window.on("request", lambda request: asked.append(request.url))
    window.on("console", lambda message: told.append(message.text))
    found = {}
    for page in sorted((tmp_path / "site").glob("*.html")):
        window.set_viewport_size({"width": 1280, "height": 900})
        window.goto(page.as_uri())
        if (first := window.locator("details > summary").first).count():
            first.click()
        found[page.name] = violations(window)
    window.close()

    assert len(found) >= 6
    assert {name: problems for name, problems in found.items() if problems} == {}
    assert [url for url in asked if not url.startswith((tmp_path / "site").as_uri())] == []
    assert told == []
