"""Typing in a task of sixty intents and two hundred items."""

from __future__ import annotations

from statistics import median

import pytest
from playwright.sync_api import Page, expect

from studio.domain.task import ChecklistItem, HiddenIntent
from studio.domain.uids import default_uid
from studio.drafts.load import load_task
from studio.models import Role, Task
from tests.factories import BenchmarkFactory, a_persona, a_task, member

INTENTS, ITEMS = 60, 200
MORE = " And it is turned once, halfway through."
MAX_DELAY = 100
"""Milliseconds from a key to its effect that people perceive as immediate."""
WATCH = """() => {
    window.delays = [];
    document.addEventListener("keydown", (event) => {
        const at = performance.now();
        requestAnimationFrame(() => {
            const painted = new MessageChannel();
            painted.port1.onmessage = () => window.delays.push([event.key, performance.now() - at]);
            painted.port2.postMessage(0);
        });
    }, true);
}"""


@pytest.fixture
def long_task(transactional_db, browser) -> Task:
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    uids = [default_uid("baker", "bread", "intents", number) for number in range(1, INTENTS + 1)]
    return a_task(
        a_persona(benchmark, by=author),
        by=author,
        intents=tuple(
            HiddenIntent(uid=uid, content=f"Bread {number} in the list bakes on tray {number}, beside the others.")
            for number, uid in enumerate(uids, 1)
        ),
        checklist=tuple(
            ChecklistItem(
                uid=default_uid("baker", "bread", "checklist", number),
                criterion=f"The plan puts loaf {number} on the tray of bread {number % INTENTS + 1}.",
                follows_from=(uids[number % INTENTS],),
            )
            for number in range(1, ITEMS + 1)
        ),
    )


class ThreadTime:
    """CPU time of the page's thread, which does not depend on how busy the machine is."""

    def __init__(self, page: Page) -> None:
        self.devtools = page.context.new_cdp_session(page)
        self.devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.before = self.now()

    def now(self) -> float:
        metrics = self.devtools.send("Performance.getMetrics")
        return next(1000 * float(metric["value"]) for metric in metrics["metrics"] if metric["name"] == "TaskDuration")

    def since(self) -> float:
        before, self.before = self.before, self.now()
        return self.before - before


def delays(page: Page, number: int) -> list[tuple[str, float]]:
    """Milliseconds until the effect of each of the last ``number`` keys was painted."""
    page.wait_for_function("number => window.delays.length === number", arg=number)
    return [(str(key), float(delay)) for key, delay in page.evaluate("window.delays.splice(0)")]


@pytest.mark.minutes
def test_typing_in_a_long_task_stays_fast(long_task, visit):
    page = visit(long_task.revisions.get().created_by).go(long_task.get_absolute_url())
    page.evaluate(WATCH)
    rows = page.locator("#checklist > .rows-edit > [data-row]")
    expect(rows).to_have_count(ITEMS)

    page.get_by_role("textbox", name="What they need and do not say").nth(INTENTS // 2).focus()
    page.keyboard.press("Control+End")
    thread_time = ThreadTime(page)
    page.keyboard.type(MORE, delay=50)  # checks and autosave run meanwhile
    typed = [delay for _, delay in delays(page, 2 + len(MORE))]
    a_key = thread_time.since() / len(MORE)
    page.get_by_role("textbox", name="What must be true in the end").nth(ITEMS // 2).focus()
    page.keyboard.press("Control+End")
    thread_time.since()
    for _ in range(8):
        page.keyboard.press("Enter")
        page.keyboard.type("Loaf")
    added = [delay for key, delay in delays(page, 2 + 8 * 5) if key == "Enter"]
    a_row = thread_time.since() / 8

    print(f"a key: {a_key:.0f} ms of work, seen after {median(typed):.0f} ms at the median, {max(typed):.0f} at worst")
    print(f"a row: {a_row:.0f} ms of work, seen after {median(added):.0f} ms at the median, {max(added):.0f} at worst")
    assert a_key < MAX_DELAY and a_row < 12 * a_key  # a row is rendered, linked and numbered anew
    expect(rows).to_have_count(ITEMS + 8)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible(timeout=30_000)
    assert load_task(long_task).intents[INTENTS // 2].content.endswith(MORE)


@pytest.mark.minutes
def test_evidence_map_of_a_long_task_is_shown_once_the_page_is_checked(long_task, visit):
    writer = long_task.revisions.get().created_by
    page = visit(writer).go(long_task.get_absolute_url())
    without_scripts = visit(writer, java_script_enabled=False).go(long_task.get_absolute_url())
    reader = visit(member(long_task.persona.benchmark, Role.VIEWER)).go(long_task.get_absolute_url())

    page.get_by_role("link", name="Evidence").click()
    expect(page.locator("#evidence .evidence > li")).to_have_count(INTENTS)
    expect(reader.locator("#evidence .evidence > li")).to_have_count(INTENTS)
    without_scripts.locator("#evidence").get_by_role("link", name="Show now").click()
    expect(without_scripts.locator("#evidence .evidence > li")).to_have_count(INTENTS)
