"""Writing and running grader scripts in the browser."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.urls import reverse
from playwright.sync_api import Page, expect

from evaluation.sandbox import why_unavailable
from evaluation.trials.analyses import analyse_missing
from studio.models import GraderScript, Task, User
from studio.personas.scripts import STARTER_SCRIPT, create_script
from tests.e2e.accessibility import violations
from tests.e2e.visitor import Visitor
from tests.factories import mark_approved


@pytest.fixture(autouse=True)
def _sandbox() -> None:
    if reason := why_unavailable():
        pytest.skip(reason)


def in_another_thread(do: Callable[[], object]) -> None:
    """Run as a worker would, not in the browser's thread."""

    def work() -> None:
        try:
            do()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result(timeout=120)


@pytest.fixture
def script(radio: dict[str, Task]) -> GraderScript:
    """A new script for a task, as the page of new scripts creates it."""
    task = radio["02_briefing"]
    author = User.objects.get(username="author")
    return create_script(task.persona, "briefing", STARTER_SCRIPT, by=author, task_id=task.pk)


def open_script(script: GraderScript, visitor: Visitor) -> Page:
    persona = script.persona
    return ready(visitor.go(reverse("studio:script", args=[persona.benchmark.slug, persona.user_id, script.pk])))


def ready(page: Page) -> Page:
    """Once the script's editor works."""
    expect(page.get_by_role("textbox", name="Text of briefing.py")).to_be_visible()
    expect(page.get_by_role("button", name="Run")).to_be_visible()
    page.wait_for_load_state()
    return page


PASTE = """(editor, text) => {
    const data = new DataTransfer();
    data.setData("text/plain", text);
    editor.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def rewrite(page: Page, text: str) -> None:
    editor = page.get_by_role("textbox", name="Text of briefing.py")
    editor.focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    editor.evaluate(PASTE, text)


def test_script_is_edited_run_and_saved_until_its_finding_is_gone(radio, visit):
    task = radio["02_briefing"]
    page = visit("author").go(task.get_absolute_url())
    page.get_by_role("link", name="New grader script").click()
    page.get_by_label("File name").fill("briefing")
    page.get_by_role("button", name="Create script").click()
    ready(page)

    page.get_by_role("button", name="Run").click()

    result = page.get_by_role("region", name="Result")
    expect(result).to_contain_text("1 of 2 keys earned")
    expect(result.get_by_role("row", name=re.compile("letter_written"))).to_contain_text("✓ 1")
    expect(result.get_by_role("row", name=re.compile("letter_written"))).to_contain_text("item ")
    expect(page.locator("#facts")).to_contain_text("requires “letter.md”")

    rewrite(page, 'def score(tools_history):\n# the text goes on\nreturn {"called": int(bool(tools_history))}')
    page.keyboard.press("Control+Enter")
    expect(result).to_contain_text("IndentationError")
    expect(result.get_by_role("link", name="Line 3")).to_be_visible()

    rewrite(page, 'def score(tools_history):\n    return {"called": int(bool(tools_history))}')
    page.keyboard.press("Control+Enter")
    expect(result).to_contain_text("1 of 1 key earned")
    page.keyboard.press("Control+s")
    expect(page.locator("#messages")).to_contain_text("Saved.")
    expect(page.locator("#facts")).not_to_contain_text("requires")

    in_another_thread(analyse_missing)
    page.reload()
    expect(page.locator("#facts").get_by_role("row", name=re.compile("called"))).to_contain_text("earned by some")
    page.goto(task.get_absolute_url())
    expect(page.get_by_role("list", name="Keys of the script")).to_contain_text("called")


def test_tab_indents_and_escape_leaves_the_editor(script, visit):
    page = open_script(script, visit("author"))
    editor = page.get_by_role("textbox", name="Text of briefing.py")
    rewrite(page, "a")

    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(editor).to_have_text("    a")
    page.keyboard.press("Control+z")
    expect(editor).to_have_text("a")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")

    expect(editor).not_to_be_focused()
    script = GraderScript.objects.get(path="scripts/briefing.py")
    expect(page).to_have_url(re.compile(f"/scripts/{script.pk}/$"))


def test_letters_typed_in_the_editor_are_not_shortcuts(script, visit):
    page = open_script(script, visit("author"))
    rewrite(page, "a")
    page.keyboard.press("Backspace")

    page.keyboard.type("g?h")

    expect(page.get_by_role("textbox", name="Text of briefing.py")).to_have_text("g?h")
    expect(page.locator("dialog[open]")).to_have_count(0)


def test_endless_script_is_stopped_with_a_message(script, visit):
    page = open_script(script, visit("author"))
    rewrite(page, "def score(tools_history):\n    while True:\n        print('again' * 1000)")

    page.get_by_role("button", name="Run").click()

    expect(page.get_by_role("region", name="Result")).to_contain_text("It was stopped: it printed more", timeout=20_000)


def test_two_users_in_one_script_see_what_the_other_saved(script, visit):
    page = open_script(script, visit("author"))
    other = visit("owner").go(page.url.removeprefix(page.url.split("/b/")[0]))
    expect(other.locator("[data-presence]")).to_contain_text("here")
    rewrite(page, "def score(h):\n    return {'mine': 0}")
    page.keyboard.press("Control+s")
    expect(page.locator("#messages")).to_contain_text("Saved.")

    rewrite(other, "def score(h):\n    return {'theirs': 0}")

    choice = other.locator("[data-conflict]")
    expect(choice).to_contain_text("mine")
    expect(other.get_by_role("textbox", name="Text of briefing.py")).to_contain_text("theirs")
    other.keyboard.press("Control+s")
    expect(choice).to_be_focused()
    choice.get_by_role("button", name="Use theirs").click()
    expect(other.get_by_role("textbox", name="Text of briefing.py")).to_contain_text("mine")
    expect(choice).to_have_count(0)


def reload_editor(page: Page) -> None:
    page.reload()
    expect(page.get_by_role("button", name="Run")).to_be_visible()


def test_script_is_autosaved_also_after_being_offline(script, visit):
    page = open_script(script, visit("author"))
    status, text = page.locator("[data-save-status]"), page.get_by_role("textbox", name="Text of briefing.py")
    rewrite(page, "def score(h):\n    return {'autosaved': 0}")
    expect(status).to_contain_text("not in a version yet")
    reload_editor(page)
    expect(text).to_contain_text("autosaved")
    expect(page.get_by_text("They are not in a version yet")).to_be_visible()

    page.context.set_offline(True)
    rewrite(page, "def score(h):\n    return {'tunnel': 0}")
    expect(status).to_contain_text("No connection")
    page.context.set_offline(False)
    expect(status).to_contain_text("not in a version yet")
    reload_editor(page)
    expect(text).to_contain_text("tunnel")

    page.get_by_role("button", name="discard them").click()
    expect(text).to_contain_text("letter_written")
    expect(page.get_by_role("button", name="Run")).to_be_visible()


def test_script_page_is_accessible_and_fits_a_phone(script, visit):
    page = open_script(script, visit("author"))
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("region", name="Result")).to_be_visible()

    assert violations(page) == []


def test_parts_of_a_page_that_scripts_have_styled_are_exchanged_within_the_security_policy(script, visit):
    page = open_script(script, visit("author"))
    page.evaluate("document.querySelector('#facts').style.setProperty('top', '0px')")

    page.evaluate("htmx.swap('#facts', '<section id=facts>exchanged</section>', {swapStyle: 'outerHTML'})")

    expect(page.locator("#facts")).to_have_text("exchanged")
    expect(page.locator("#facts")).not_to_have_class(re.compile("htmx"))  # it has settled


def test_script_is_written_and_run_without_browser_scripts(radio, visit):
    page = visit("author", java_script_enabled=False).go(radio["02_briefing"].get_absolute_url())
    page.get_by_role("link", name="New grader script").click()
    page.get_by_role("button", name="Create script").click()
    page.get_by_role("link", name="Choose an example").click()
    page.get_by_label(re.compile("^Text of")).fill("def score(h):\n    return {'called': int(bool(h))}")

    page.get_by_role("button", name="Run").click()

    expect(page.get_by_role("region", name="Result")).to_contain_text("1 of 1 key earned")
    expect(page.get_by_label(re.compile("^Text of"))).to_have_value(re.compile("'called'"))
    page.get_by_role("button", name="Save").first.click()
    expect(page.locator("#messages")).to_contain_text("Saved.")


def test_approval_of_a_task_is_outdated_when_its_script_changes(radio, script, visit):
    page = open_script(script, visit("author"))
    mark_approved(Task.objects.filter(pk=radio["02_briefing"].pk))
    rewrite(page, "def score(h):\n    return {'called': int(bool(h))}")

    page.keyboard.press("Control+s")

    expect(page.locator("#messages")).to_contain_text("Saved.")
    assert Task.objects.get(pk=radio["02_briefing"].pk).outdated
