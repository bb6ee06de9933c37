"""App data as a table, and its records in the task editor, by keyboard alone."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from studio.models import Persona, User
from studio.personas.app_data import save_apps

NOTES = {
    "accounts": [{"username": "ada@example.com", "password": "invented"}],
    "notes": [{"owner": "ada@example.com", "title": "Rye"}],
}


def test_row_is_added_by_keyboard_and_its_name_is_offered_where_a_request_is_written(radio, visit):
    persona = Persona.objects.get(user_id="radio_producer")
    save_apps(persona, {"simple_note": json.dumps(NOTES)}, "", by=User.objects.get(username="author"))
    page = visit("author").page
    page.goto(f"{persona.get_absolute_url()}apps/simple_note/notes/")

    page.get_by_label("title").first.press("Enter")  # a new row below the last one
    expect(page.locator(":focus")).to_have_attribute("aria-label", "owner")
    page.keyboard.type("ada@example.com")
    page.keyboard.press("Tab")
    page.keyboard.type("Oats for Sunday")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved the notes of Simple Note.")).to_be_visible()
    expect(page.get_by_label("title").nth(1)).to_have_value("Oats for Sunday")

    page.goto(radio["02_briefing"].get_absolute_url())
    request = page.locator('textarea[name="initial_request"]')
    request.fill("")
    request.press_sequentially("Read me the note Oat")
    offered = page.get_by_role("option", name="Oats for Sunday Simple Note note")
    expect(offered).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(offered).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    expect(request).to_have_value("Read me the note Oats for Sunday")
    expect(offered).to_be_hidden()
