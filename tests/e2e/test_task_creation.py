"""New tasks from starting points, templates and other tasks."""

from __future__ import annotations

from playwright.sync_api import expect

from studio.models import Task

NEW = "/b/sample/p/radio_producer/new/"


def test_task_from_a_starting_point_becomes_a_template_for_another(sample, visit):
    page = visit("author").go(NEW)
    page.get_by_role("radio", name="A table from files").check()
    page.get_by_label("Title").fill("Guests of the spring")
    page.get_by_role("button", name="Create task").dblclick()

    expect(page.get_by_role("textbox", name="Title")).to_have_value("Guests of the spring")
    expect(page.locator("#request textarea").first).to_have_value("I need one table of <insert what it lists> from "
        "<insert the files' names>. Call it <insert the table's name, with .csv>.")  # fmt: skip
    expect(page.locator(".side .finding", has_text="To fill in").first).to_be_visible()
    expect(page.locator(".activity").first).to_contain_text("From the starting point “A table from files”.")

    page.get_by_role("button", name="Make it a template").click()
    expect(page.get_by_text("New tasks can start from it now.")).to_be_visible()

    page.goto("/b/sample/p/vet_practice_manager/new/")
    page.get_by_role("radio", name="Guests of the spring").check()
    page.get_by_label("Title").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Title")).to_have_value("Guests of the spring")
    expect(page.locator(".activity").first).to_contain_text("Guests of the spring")
    assert Task.objects.filter(title="Guests of the spring").count() == 2


def test_searching_for_a_task_to_start_from_keeps_the_typed_title(sample, visit):
    page = visit("author").go(NEW)
    page.get_by_label("Title").fill("The alarm again")
    page.get_by_text("Another task in this benchmark").click()
    page.get_by_role("searchbox").fill("fridge alarm")
    page.keyboard.press("Enter")
    page.get_by_role("radio", name="The fridge raises an alarm").check()
    expect(page.get_by_label("Title")).to_have_value("The alarm again")
    page.get_by_role("button", name="Create task").click()

    expect(page.get_by_role("textbox", name="Title")).to_have_value("The alarm again")
    expect(page.get_by_text("Does not build on “vet_01_fridge_procedure” any more").first).to_be_visible()


def test_task_is_started_from_another_without_scripts(sample, visit):
    page = visit("author", java_script_enabled=False).go(f"{NEW}?q=fridge+alarm")
    page.get_by_role("radio", name="The fridge raises an alarm").check()
    page.get_by_role("button", name="Create task").click()

    expect(page.locator("#task")).to_be_visible()
    assert Task.objects.filter(title="The fridge raises an alarm").count() == 2
