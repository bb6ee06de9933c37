"""A tour of the studio through its pages, which prepares the screenshots."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from studio.dev.pictures import Shot, number_in, sign_in
from studio.local.paths import CHECKOUT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PEOPLE = ("owner", "author", "reviewer", "auditor")
PAGES = Path(__file__).with_name("pages.txt")
SAMPLE = CHECKOUT / "fixtures" / "sample" / "data"
DECISIONS = 10
REASON = "A first look at the format; everything here was played by a script."


@dataclass
class TourPaths:
    """Paths of the objects that the tour creates."""

    persona: str = "/b/sample/p/radio_producer/"
    tasks: list[str] = field(default_factory=list)
    script: str = ""
    pilot: str = ""
    session: str = ""
    file: str = ""
    audit: str = ""
    gold_item: str = ""
    judging: str = ""
    judging_sessions: str = ""
    adjudicating: str = ""
    release: str = ""
    rehearsal: str = ""
    imported: str = ""
    model: str = ""
    invitation: str = ""


def every_page(paths: TourPaths) -> list[Shot]:
    """Those of ``pages.txt``: name, path and who sees it. One with a question mark is left out without its path."""
    benchmark = paths.persona.partition("p/")[0]
    places = vars(paths) | {
        "benchmark": benchmark,
        "slug": benchmark.strip("/").rpartition("/")[2],
        "number": number_in(paths.tasks[2]),
        "model-new": paths.model and "/settings/models/new/",
    }
    rows = (line.split() for line in PAGES.read_text(encoding="utf-8").splitlines())
    shots = [Shot(name, path.format(**places), who) for name, path, who in rows]
    return [
        replace(shot, name=shot.name.removesuffix("?"))
        for shot in shots
        if shot.url.startswith("/") or shot.name[-1] != "?"
    ]


class Tour:
    """The signed-in accounts and the paths of what they created."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address = address
        self.pages: dict[str, Page] = {name: sign_in(browser, address, name) for name in PEOPLE}
        self.paths = TourPaths()

    def take(self) -> list[Shot]:
        self.find_tasks()
        self.rehearse()
        self.preview_import()
        self.find_pilot()
        self.run_audits()
        self.cut_release()
        return every_page(self.paths)

    def open(self, who: str, path: str) -> Page:
        page = self.pages[who]
        page.goto(self.address + path)
        return page

    def find_tasks(self) -> None:
        page = self.open("author", "/b/sample/p/radio_producer/")
        cards = page.locator("nav.lane a.card")
        for number in range(cards.count()):
            page.goto(f"{self.address}/b/sample/p/radio_producer/{cards.nth(number).get_attribute('href')}")
            self.paths.tasks.append(str(page.locator("#detail a.main").get_attribute("href")))
        profile = self.open("author", f"{self.paths.persona}profile/")
        self.paths.script = str(profile.locator("a[href*='/scripts/'].mono").first.get_attribute("href"))

    def rehearse(self) -> None:
        page = self.open("author", f"{self.paths.tasks[2]}rehearse/")
        page.get_by_role("button", name="Start").click()
        page.wait_for_url("**/rehearsals/*/")
        self.paths.rehearsal = page.url.removeprefix(self.address)

    def preview_import(self) -> None:
        page = self.open("owner", "/b/sample/import/")
        with tempfile.TemporaryDirectory() as folder:
            packed = shutil.make_archive(f"{folder}/persona", "zip", SAMPLE, "radio_producer")
            page.get_by_label("A zip").set_input_files(packed)
            page.get_by_role("button", name="Preview import").click()
            page.wait_for_url("**/import/*/")
        self.paths.imported = page.url.removeprefix(self.address)

    def find_pilot(self) -> None:
        page = self.open("owner", "/pilots/")
        self.paths.pilot = str(page.locator("table tbody th a").first.get_attribute("href"))
        page.goto(self.address + self.paths.pilot)
        self.paths.session = str(
            page.locator("table.matrix tbody tr").nth(1).locator("a.cell").first.get_attribute("href")
        )
        page.goto(self.address + self.paths.session)
        self.paths.file = str(page.locator("#workspace .files a").first.get_attribute("href"))

    def open_audit(self, name: str) -> str:
        page = self.open("owner", f"/audits/new/?benchmark=sample&pilot={number_in(self.paths.pilot)}")
        page.get_by_label("Name").fill(name)
        page.get_by_role("radio", name="A single decision").check()
        page.get_by_role("spinbutton", name="How many").fill(str(DECISIONS))
        page.get_by_role("spinbutton", name="People for each").fill("1")
        page.get_by_role("button", name="Open the audit").click()
        page.wait_for_url("**/audits/*/")
        return page.url.removeprefix(self.address)

    def judge(self, audit: str, decisions: int) -> Page:
        page = self.open("auditor", f"{audit}judge/")
        for number in range(decisions):
            with page.expect_navigation():
                page.keyboard.press("yyn"[number % 3] if number else "u")
        return page

    def run_audits(self) -> None:
        self.paths.audit = self.open_audit("")
        page = self.judge(self.paths.audit, DECISIONS)
        while not (over := page.get_by_role("button", name="Open the results")).count():  # some with the whole session
            with page.expect_navigation():
                page.keyboard.press("y")
        over.click()
        page.wait_for_load_state()
        undecided = self.open("owner", self.paths.audit).locator("a[href*='/adjudicate/']").first
        self.paths.adjudicating = str(undecided.get_attribute("href"))
        self.paths.judging = self.open_audit("A second look")
        self.judge(self.paths.judging, 3)

    def cut_release(self) -> None:
        page = self.open("owner", "/benchmarks/sample/releases/")
        page.get_by_role("textbox", name="Version").fill("0.3")
        page.get_by_label("Reason for the exceptions").fill(REASON)
        page.get_by_role("button", name="Accept exceptions and release").click()
        page.wait_for_url("**/releases/*/")
        self.paths.release = page.url.removeprefix(self.address)
