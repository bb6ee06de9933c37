"""What somebody does in a fresh studio before it is photographed: by clicking, as people do, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.local.pictures import Shot, number_in, sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PEOPLE = ("owner", "author", "reviewer", "auditor")
LONGEST_PILOT_SECONDS = 180
DECISIONS = 10
REASON = "A first look at the format; everything here was played by a script."


class Tour:
    """The signed-in people, and what they came across."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.address = address
        self.pages: dict[str, Page] = {name: sign_in(browser, address, name) for name in PEOPLE}
        self.tasks: list[str] = []
        self.pilot = self.session = self.file = self.audit = self.release = ""

    def act(self) -> list[Shot]:
        """Do everything; the pages there are then."""
        self.submit_and_review()
        self.run_pilot()
        self.open_audit()
        self.judge()
        self.cut_release()
        return self.shots()

    def go(self, who: str, path: str) -> Page:
        page = self.pages[who]
        page.goto(self.address + path)
        return page

    def submit_and_review(self) -> None:
        page = self.go("author", "/b/sample/p/radio_producer/")
        cards = page.locator("nav.lane a.card")
        for number in range(cards.count()):
            page.goto(f"{self.address}/b/sample/p/radio_producer/{cards.nth(number).get_attribute('href')}")
            self.tasks.append(str(page.locator("#detail a.main").get_attribute("href")))
        for task in self.tasks[:4]:
            self.go("author", task).get_by_role("button", name="Submit for review").click()
        for task in self.tasks[:2]:
            self.go("reviewer", task).get_by_role("button", name="Approve", exact=True).click()
        page = self.go("reviewer", self.tasks[2])
        page.get_by_label("Your words").fill("The request already says what the second intent hides.")
        page.get_by_role("button", name="Ask for changes").click()

    def run_pilot(self) -> None:
        page = self.go("owner", "/benchmarks/sample/pilots/new/?persona=radio_producer")
        page.locator("[name=agent]").select_option(label="scripted-asks – scripted")
        page.locator("[name=runs]").fill("2")
        page.get_by_role("button", name="Start the pilot").click()
        page.wait_for_url("**/pilots/*/")
        self.pilot = page.url.removeprefix(self.address)
        page.get_by_text("This page keeps itself up to date").wait_for(
            state="detached", timeout=LONGEST_PILOT_SECONDS * 1000
        )
        self.session = str(page.locator("table.matrix tbody tr").nth(1).locator("a.cell").first.get_attribute("href"))
        page.goto(self.address + self.session)
        self.file = str(page.locator("#workspace .files a").first.get_attribute("href"))

    def open_audit(self) -> None:
        page = self.go("owner", f"/audits/new/?benchmark=sample&pilot={number_in(self.pilot)}")
        page.get_by_label("Decisions", exact=True).fill(str(DECISIONS))
        page.get_by_role("button", name="Open the audit").click()
        page.wait_for_url("**/audits/*/")
        self.audit = page.url.removeprefix(self.address)

    def judge(self) -> None:
        page = self.go("auditor", f"{self.audit}judge/")
        for number in range(DECISIONS):
            with page.expect_navigation():
                page.keyboard.press("n" if number % 3 == 2 else "y")
        page.get_by_role("button", name="Open the results").click()
        page.wait_for_load_state()

    def cut_release(self) -> None:
        page = self.go("owner", "/benchmarks/sample/releases/")
        page.get_by_label("Version").fill("0.1")
        page.get_by_label("Reason to accept").fill(REASON)
        page.get_by_role("button", name="Accept and cut the release").click()
        page.wait_for_url("**/releases/*/")
        self.release = page.url.removeprefix(self.address)

    def shots(self) -> list[Shot]:
        """Every page of the studio, in the order in which somebody would come to it."""
        persona, benchmark = "/b/sample/p/radio_producer/", "/b/sample/"
        returned, first = self.tasks[2], self.tasks[0]
        return [
            Shot("sign-in", "/login/", "nobody"),
            Shot("home", "/"),
            Shot("home-author", "/", "author"),
            Shot("home-reviewer", "/", "reviewer"),
            Shot("benchmarks", "/benchmarks/"),
            Shot("benchmark", benchmark),
            Shot("benchmark-new", "/benchmarks/new/"),
            Shot("members", f"{benchmark}members/"),
            Shot("findings", f"{benchmark}findings/"),
            Shot("history", f"{benchmark}history/"),
            Shot("import", f"{benchmark}import/"),
            Shot("persona-new", f"{benchmark}personas/new/"),
            Shot("board", f"{persona}?task={self.tasks[2].rstrip('/').rsplit('/', 1)[-1]}"),
            Shot("profile", f"{persona}profile/"),
            Shot("task-new", f"{persona}new/"),
            Shot("task", returned, "author"),
            Shot("task-review", self.tasks[3], "reviewer"),
            Shot("versions", f"{first}versions/"),
            Shot("version", f"{first}versions/1/"),
            Shot("pilots", "/pilots/"),
            Shot("pilot-new", "/benchmarks/sample/pilots/new/"),
            Shot("pilot", self.pilot),
            Shot("session", self.session),
            Shot("session-file", self.file),
            Shot("audits", "/audits/"),
            Shot("audit-new", "/audits/new/?benchmark=sample"),
            Shot("audit", self.audit, "auditor"),
            Shot("judging", f"{self.audit}judge/1/"),
            Shot("releases", "/releases/"),
            Shot("release-new", "/benchmarks/sample/releases/"),
            Shot("release", self.release),
            Shot("settings", "/settings/"),
            Shot("models", "/settings/models/"),
            Shot("password", "/settings/password/"),
            Shot("not-found", "/b/nowhere/"),
            Shot("styleguide", "/styleguide/"),
        ]
