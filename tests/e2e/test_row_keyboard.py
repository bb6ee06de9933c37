"""Editor rows by keyboard, section shortcuts, page widths."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_task
from studio.models import Role, Task
from tests.factories import BenchmarkFactory, a_persona, a_task, member


@pytest.fixture
def desk(client):
    benchmark = BenchmarkFactory()
    author = member(benchmark, Role.AUTHOR)
    persona = a_persona(benchmark, by=author)
    task = a_task(persona, by=author)
    a_task(persona, "rolls", by=author, title="Rolls for Monday")
    client.force_login(author)
    return task, persona


def open_page(browser, live_server, client, **options):
    context = browser.new_context(**options)
    cookie = client.cookies["sessionid"].value
    context.add_cookies([{"name": "sessionid", "value": cookie, "url": live_server.url}])
    page = context.new_page()
    page.failures = []
    page.on("pageerror", lambda error: page.failures.append(str(error)))
    page.on(
        "console",
        lambda message: (
            message.type == "error"
            and not message.text.startswith("Failed to load")
            and page.failures.append(message.text)
        ),
    )
    return page


def test_task_is_written_by_keyboard_and_nothing_is_lost_offline(browser, live_server, client, desk):
    task, _ = desk
    page = open_page(browser, live_server, client, viewport={"width": 1280, "height": 900})
    press = page.keyboard.press
    page.goto(live_server.url + task.get_absolute_url())

    page.context.set_offline(True)
    press("i")  # a new intent, and the cursor in it
    page.keyboard.type("Salt is short this week.")
    press("Alt+ArrowUp")
    expect(page.locator("[data-save-status]")).to_contain_text("No connection")
    page.context.set_offline(False)
    expect(page.locator("[data-save-status]")).to_contain_text("Draft saved")
    page.locator("textarea[name$='.content']").first.focus()
    press("Control+s")

    expect(page.locator("[data-save-status]")).to_contain_text("Saved as version 2")
    spec = load_task(Task.objects.get(pk=task.pk))
    assert [intent.content for intent in spec.intents] == [
        "Salt is short this week.",
        "The rye goes in before the rolls.",
    ]
    criteria = page.locator("textarea[name$='.criterion']")
    criteria.first.focus()
    for key in ("Alt+l", "1", "Enter"):
        press(key)
    page.keyboard.type("Salt is on the list.")
    expect(criteria.nth(1)).to_have_value("Salt is on the list.")
    page.fill("#comment-text", "Which salt?")
    page.get_by_role("button", name="Comment", exact=True).click()
    page.wait_for_selector("#comments .thread")
    assert page.failures == []


def test_section_shortcuts_board_keys_and_theme(browser, live_server, client, desk):
    _, persona = desk
    page = open_page(browser, live_server, client, viewport={"width": 1280, "height": 900}, color_scheme="light")
    press = page.keyboard.press
    page.goto(live_server.url + "/")

    press("?")
    assert page.locator("#keys").is_visible()
    press("Escape")
    with page.expect_navigation():
        press("g")
        press("b")
    assert page.url.endswith("/benchmarks/")
    page.goto(live_server.url + persona.get_absolute_url())
    press("j")
    expect(page.locator("#detail h1")).to_contain_text("Bread for Saturday")
    press("j")
    expect(page.locator("#detail h1")).to_contain_text("Rolls for Monday")
    press("K")  # earlier
    expect(page.locator(".card .t")).to_have_text(["Rolls for Monday", "Bread for Saturday"])
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.click("[data-theme-toggle]")
    page.click("[data-theme-toggle]")
    assert page.evaluate(background) != light
    page.reload()
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.failures == []


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_is_wider_than_its_window(browser, live_server, client, desk, width):
    task, persona = desk
    benchmark = persona.benchmark.get_absolute_url()
    page = open_page(browser, live_server, client, viewport={"width": width, "height": 800})
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    board = persona.get_absolute_url()
    urls = [
        "/",
        "/benchmarks/",
        benchmark,
        f"{benchmark}members/",
        f"{benchmark}import/",
        board,
        f"{board}?task={task.pk}",
    ]

    for url in [*urls, f"{board}profile/", task.get_absolute_url(), "/styleguide/", "/settings/", "/api/"]:
        page.goto(live_server.url + url)
        assert page.evaluate(overflow) <= 0, url
    assert page.failures in ([], ['The specified value "much" cannot be parsed, or is out of range.'])
