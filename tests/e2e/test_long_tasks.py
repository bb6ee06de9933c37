"""A task of sixty intents and two hundred items is written as quickly as a short one."""

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
SEEN = 100
"""Milliseconds between a key and what it wrote: at most what people take for at once."""
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


class Effort:
    """What the page itself works: time of its thread alone, so that a busy machine makes no difference."""

    def __init__(self, page: Page) -> None:
        self.devtools = page.context.new_cdp_session(page)
        self.devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.before = self.now()

    def now(self) -> float:
        answer = self.devtools.send("Performance.getMetrics")
        return next(1000 * float(one["value"]) for one in answer["metrics"] if one["name"] == "TaskDuration")

    def since(self) -> float:
        before, self.before = self.before, self.now()
        return self.before - before


def delays(page: Page, number: int) -> list[tuple[str, float]]:
    """How long what each of the last keys wrote took to be seen."""
    page.wait_for_function("number => window.delays.length === number", arg=number)
    return [(str(key), float(delay)) for key, delay in page.evaluate("window.delays.splice(0)")]


def test_sixty_intents_and_two_hundred_items_stay_quick_to_write(long_task, visit):
    page = visit(long_task.revisions.get().created_by).go(long_task.get_absolute_url())
    page.evaluate(WATCH)
    rows = page.locator("#checklist > .rows-edit > [data-row]")
    expect(rows).to_have_count(ITEMS)

    page.get_by_role("textbox", name="What they need and do not say").nth(INTENTS // 2).focus()
    page.keyboard.press("End")
    effort = Effort(page)
    page.keyboard.type(MORE, delay=50)  # findings and keeping go on beneath
    typed = [delay for _, delay in delays(page, 1 + len(MORE))]
    a_key = effort.since() / len(MORE)
    page.get_by_role("textbox", name="What must be true in the end").nth(ITEMS // 2).focus()
    page.keyboard.press("End")
    effort.since()
    for _ in range(8):
        page.keyboard.press("Enter")
        page.keyboard.type("Loaf")
    added = [delay for key, delay in delays(page, 1 + 8 * 5) if key == "Enter"]
    a_row = effort.since() / 8

    print(f"a key: {a_key:.0f} ms of work, seen after {median(typed):.0f} ms at the median, {max(typed):.0f} at worst")
    print(f"a row: {a_row:.0f} ms of work, seen after {median(added):.0f} ms at the median, {max(added):.0f} at worst")
    assert a_key < SEEN and a_row < 3 * SEEN
    expect(rows).to_have_count(ITEMS + 8)
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved as version 2")).to_be_visible(timeout=30_000)
    assert load_task(long_task).intents[INTENTS // 2].content.endswith(MORE)


def test_the_evidence_of_a_long_task_is_drawn_once_the_page_has_been_checked(long_task, visit):
    writer = long_task.revisions.get().created_by
    page = visit(writer).go(long_task.get_absolute_url())
    asleep = visit(writer, java_script_enabled=False).go(long_task.get_absolute_url())
    reader = visit(member(long_task.episode.persona.benchmark, Role.VIEWER)).go(long_task.get_absolute_url())

    page.get_by_role("link", name="Evidence").click()
    expect(page.locator("#evidence .evidence > li")).to_have_count(INTENTS)
    expect(reader.locator("#evidence .evidence > li")).to_have_count(INTENTS)
    asleep.locator("#evidence").get_by_role("link", name="Show now").click()
    expect(asleep.locator("#evidence .evidence > li")).to_have_count(INTENTS)
