"""Editing a profile and skills: autosave, two users, conflicts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from studio.drafts.load import load_episode
from studio.models import Persona

PROFILE = "/b/sample/p/radio_producer/profile/"
SAVED = "[data-save-status]"


def spec():
    return load_episode(Persona.objects.get(user_id="radio_producer")).persona


@pytest.mark.everyday
def test_profile_is_autosaved_while_typing_and_saved_as_one_version(sample, visit):
    page = visit("author").go(PROFILE)
    before = Persona.objects.get(user_id="radio_producer").version

    page.get_by_role("textbox", name="Routines").fill("Every Thursday at nine.")
    page.get_by_role("button", name="+ fact").click()
    page.keyboard.type("Age")
    expect(page.locator(SAVED)).to_contain_text("not in a version yet")
    page.reload()

    expect(page.get_by_role("textbox", name="Routines")).to_have_value("Every Thursday at nine.")
    expect(page.get_by_text("They are not in a version yet")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert (spec().routines, Persona.objects.get(user_id="radio_producer").version) == (
        "Every Thursday at nine.",
        before + 1,
    )


def test_two_editors_of_a_profile_see_each_other_and_resolve_conflicts(sample, visit):
    mine, theirs = visit("author").go(PROFILE), visit("owner").go(PROFILE)
    expect(theirs.locator("[data-presence]")).to_contain_text("here")
    theirs.get_by_role("textbox", name="Routines").fill("Their words.")
    theirs.get_by_label("Occupation").fill("Producer of theirs")
    theirs.keyboard.press("Control+s")
    expect(theirs.get_by_role("status").filter(has_text="Saved.")).to_be_visible()

    mine.get_by_role("textbox", name="Routines").fill("My words.")

    choice = mine.locator("#who [data-conflict]")
    expect(choice).to_contain_text("Their words.")
    expect(mine.get_by_label("Occupation")).to_have_value("Producer of theirs")
    expect(mine.get_by_role("textbox", name="Routines")).to_have_value("My words.")
    choice.get_by_role("button", name="Keep yours").click()
    mine.keyboard.press("Control+s")
    expect(mine.get_by_role("status").filter(has_text="Saved.")).to_be_visible()
    assert (spec().routines, spec().occupation) == ("My words.", "Producer of theirs")


def test_new_skill_is_autosaved_before_it_has_a_name(sample, visit):
    page = visit("author").go("/b/sample/p/radio_producer/skills/")

    page.get_by_label("SKILL.md").fill("First the question, then the follow-up.")
    expect(page.locator(SAVED)).to_contain_text("not in a version yet")
    page.reload()

    expect(page.get_by_label("SKILL.md")).to_have_value("First the question, then the follow-up.")
    page.get_by_label("Name", exact=True).fill("ask-well")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="“ask-well” is saved")).to_be_visible()


def test_tools_are_filtered_by_description_and_picked_by_keyboard(sample, visit):
    page = visit("author").go(PROFILE)
    page.get_by_text("Tools: 6 of").click()

    page.get_by_role("searchbox", name="Filter tools by name or description").fill("words in the files")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    page.get_by_label("Other tools, not listed above").fill("calendar__create_event")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status").filter(has_text="Saved.")).to_be_visible()

    assert spec().tools == ("read_file", "write_file", "edit_file", "list_dir", "glob", "calendar__create_event")
