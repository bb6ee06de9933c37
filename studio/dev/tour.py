"""A tour of the studio through its pages, which prepares the screenshots."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from studio.dev.pictures import Shot, number_in, sign_in
from studio.local.paths import CHECKOUT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PEOPLE = ("owner", "author", "reviewer", "auditor")
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
    benchmark = paths.persona.partition("p/")[0]
    slug = benchmark.strip("/").rpartition("/")[2]
    tasks, persona = paths.tasks, paths.persona
    return [
        Shot("sign-in", "/login/", "nobody"),
        Shot("introduction", "/introduction/"),
        Shot("signed-in", "/signed-in/"),
        *([Shot("invitation", paths.invitation, "nobody")] if paths.invitation else []),
        Shot("sign-up", "/sign-up/", "nobody"),
        Shot("password-forgotten", "/password/", "nobody"),
        Shot("password-sent", "/password/sent/", "nobody"),
        Shot("password-new", "/password/0-spent/", "nobody"),
        Shot("password-done", "/password/done/", "nobody"),
        Shot("account-disabled", "/account/disabled/", "nobody"),
        Shot("email-sent", "/account/email/sent/", "nobody"),
        Shot("email-confirm", "/account/email/spent/", "nobody"),
        Shot("home", "/"),
        Shot("home-author", "/", "author"),
        Shot("home-reviewer", "/", "reviewer"),
        Shot("activity", "/happened/"),
        Shot("benchmarks", "/benchmarks/"),
        Shot("benchmark", benchmark),
        Shot("statistics", f"{benchmark}statistics/"),
        Shot("gaps", f"{benchmark}gaps/"),
        Shot("benchmark-new", "/benchmarks/new/"),
        Shot("benchmark-change", f"{benchmark}change/"),
        Shot("members", f"{benchmark}members/"),
        Shot("benchmark-models", f"/benchmarks/{slug}/models/"),
        Shot("benchmark-models-ask", f"/benchmarks/{slug}/models/", "author"),
        Shot("benchmark-model-new", f"/benchmarks/{slug}/models/new/"),
        Shot("assistance", f"/benchmarks/{slug}/help/"),
        Shot("tasks", f"{benchmark}tasks/"),
        Shot("tasks-deleted", f"{benchmark}tasks/deleted/"),
        Shot("copy", f"{benchmark}tasks/copy/?task={number_in(tasks[2])}"),
        Shot("findings", f"{benchmark}findings/"),
        Shot("history", f"{benchmark}history/"),
        Shot("import", f"{benchmark}import/"),
        Shot("import-preview", paths.imported),
        Shot("persona-new", f"{benchmark}personas/new/"),
        Shot("board", f"{persona}?task={number_in(tasks[2])}"),
        Shot("profile", f"{persona}profile/"),
        Shot("behaviour", f"{persona}behaviour/"),
        Shot("script", paths.script, "author"),
        Shot("script-run", f"{paths.script}try/", "author"),
        Shot("script-version", f"{paths.script}versions/1/", "author"),
        Shot("script-new", f"{persona}scripts/new/", "author"),
        Shot("skill", f"{persona}skills/script-timing/", "author"),
        Shot("skill-new", f"{persona}skills/", "author"),
        Shot("apps", f"{persona}apps/"),
        Shot("approvals", f"{persona}approvals/", "reviewer"),
        Shot("cast", "/b/sample/p/vet_practice_manager/cast/", "author"),
        Shot("can-be-done", "/b/sample/p/vet_practice_manager/can-be-done/"),
        Shot("clock", f"{persona}apps/clock/times/", "author"),
        Shot("app", f"{persona}apps/gmail/", "author"),
        Shot("web_page", f"{persona}web/", "author"),
        Shot("app-table", f"{persona}apps/gmail/emails/", "author"),
        Shot("app-import", f"{persona}apps/gmail/emails/import/", "author"),
        Shot("tool-servers", f"{persona}servers/"),
        Shot("tool-server", f"{persona}servers/change/"),
        Shot("persona-history", f"{persona}history/"),
        Shot("persona-version", f"{persona}versions/1/"),
        Shot("task-new", f"{persona}new/"),
        Shot("task", tasks[2], "author"),
        Shot("task-file", f"{tasks[2]}files/tracks_2027-03-11.csv", "author"),
        Shot("task-review", tasks[1], "reviewer"),
        Shot("rehearse", f"{tasks[2]}rehearse/", "author"),
        Shot("submit", f"{tasks[2]}submit/", "author"),
        Shot("read", f"{tasks[2]}read/", "reviewer"),
        Shot("task-delete", f"{tasks[2]}delete/", "author"),
        Shot("rehearsal", paths.rehearsal, "author"),
        Shot("rehearsal-tools", f"{paths.rehearsal}tools/?tool=write_file", "author"),
        Shot("rehearsal-mail", f"{paths.rehearsal}mail/", "author"),
        Shot("activity", f"{tasks[2]}activity/"),
        Shot("versions", f"{tasks[0]}versions/"),
        Shot("version", f"{tasks[0]}versions/1/"),
        Shot("pilots", "/pilots/"),
        Shot("pilot-new", f"/benchmarks/{slug}/pilots/new/"),
        Shot("pilot", paths.pilot),
        Shot("results", f"/benchmarks/{slug}/results/"),
        Shot("results-sessions", f"/benchmarks/{slug}/results/sessions/?agent=scripted-helpful"),
        Shot("results-compare", f"/benchmarks/{slug}/results/compare/"),
        Shot("results-charts", f"/benchmarks/{slug}/results/charts/"),
        Shot("results-proc-comp", f"/benchmarks/{slug}/results/charts/?figure=proc_and_comp"),
        Shot("pilot-rejudge", f"{paths.pilot}rejudge/"),
        Shot("pilot-scoring", f"{paths.pilot}scoring/"),
        Shot("session", paths.session),
        Shot("session-file", paths.file),
        Shot("audits", "/audits/"),
        Shot("audit-mine", "/audits/mine/", who="auditor"),
        Shot("audit-people", f"/audits/people/{slug}/"),
        Shot("audit-known", f"/audits/known/{slug}/"),
        *([Shot("audit-known-item", paths.gold_item)] if paths.gold_item else []),
        Shot("audit-judges", f"/audits/judges/{slug}/"),
        Shot("audit-new", f"/audits/new/?benchmark={slug}"),
        Shot("audit", paths.audit, "auditor"),
        Shot("audit-report", f"{paths.audit}report/", "auditor"),
        Shot("audit-corrections", f"{paths.audit}corrections/"),
        Shot("audit-model", f"{paths.audit}model/"),
        Shot("judging", f"{paths.judging}judge/", "auditor"),
        *([Shot("judging-session", f"{paths.judging_sessions}judge/", "auditor")] if paths.judging_sessions else []),
        Shot("adjudicate", paths.adjudicating),
        Shot("releases", "/releases/"),
        Shot("release-new", f"/benchmarks/{slug}/releases/"),
        Shot("release-limits", f"/benchmarks/{slug}/releases/limits/"),
        Shot("release-exceptions", f"/benchmarks/{slug}/releases/exceptions/?rule=scripted-judges"),
        Shot("release", paths.release),
        Shot("release-results", f"{paths.release}results/"),
        Shot("validation", f"/benchmarks/{slug}/validation/"),
        Shot("validation-task", f"{tasks[2]}validation/"),
        Shot("try", f"{tasks[2]}try/", "author"),
        Shot("search", "/search/?q=running+order"),
        Shot("inbox", "/inbox/", "author"),
        Shot("settings", "/settings/"),
        Shot("notifications", "/settings/notifications/"),
        Shot("models", "/settings/models/"),
        *([Shot("model", paths.model), Shot("model-new", "/settings/models/new/")] if paths.model else []),
        Shot("api", "/api/"),
        Shot("password", "/settings/password/"),
        Shot("email", "/settings/email/"),
        Shot("sessions", "/settings/sessions/"),
        Shot("tokens", "/settings/tokens/"),
        Shot("confirm", "/account/confirm/?next=/settings/"),
        Shot("second-step", "/settings/second-step/"),
        Shot("authenticator", "/settings/second-step/totp/activate/"),
        Shot("passkeys", "/settings/second-step/webauthn/"),
        Shot("passkey-new", "/settings/second-step/webauthn/add/"),
        Shot("not-found", "/b/nowhere/"),
        Shot("styleguide", "/styleguide/"),
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
        page.get_by_label("Version").fill("0.3")
        page.get_by_label("Reason for the exceptions").fill(REASON)
        page.get_by_role("button", name="Accept exceptions and release").click()
        page.wait_for_url("**/releases/*/")
        self.paths.release = page.url.removeprefix(self.address)
