"""People of a persona's world: read from the apps' data, and entered in all of them at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.tools import World
from studio.domain.app_data import SignsInBy, declared_apps
from studio.domain.cast import CastEntry, CastMessage, CastPerson, enter_messages, enter_people, read_cast
from studio.domain.checks.named_people import named_messages, named_people
from studio.domain.checks.sign_ins import sign_ins
from studio.domain.pibench import read_personas
from studio.domain.tool_names import tool_domain

APPS: dict[str, SignsInBy] = {"gmail": "email", "phone": "phone_number", "todoist": "email"}
ADA = CastPerson("Ada", "Berg", "ada@example.com", "4155550100", (), {"gmail": "m41l", "phone": "ph0ne"})
NOOR = CastPerson("Noor", "Haddad", "noor@example.com", "4155550101", ("coworker",))


def entered(*people: CastPerson) -> dict[str, dict[str, object]]:
    return enter_people({}, [CastEntry(person) for person in people], APPS)


def test_a_person_entered_once_has_an_account_in_every_app_and_is_a_contact():
    data = entered(ADA, NOOR)

    assert data["todoist"] == {
        "accounts": [
            {"username": "ada@example.com", "first_name": "Ada", "last_name": "Berg", "phone_number": "4155550100"},
            {"username": "noor@example.com", "first_name": "Noor", "last_name": "Haddad", "phone_number": "4155550101"},
        ]
    }
    assert [account.get("password") for account in data["phone"]["accounts"]] == ["ph0ne", None]
    assert data["phone"]["contacts"] == [
        {
            "owner": "4155550100",
            "first_name": "Noor",
            "last_name": "Haddad",
            "phone_number": "4155550101",
            "email": "noor@example.com",
            "relationships": ["coworker"],
        }
    ]
    assert read_cast(data, APPS) == (ADA, NOOR)
    assert list(World.from_data(data).problems()) == []


def test_who_gets_a_phone_later_has_the_others_as_contacts():
    data = entered(NOOR)

    data = enter_people(data, [CastEntry(ADA)], APPS)

    assert [contact["first_name"] for contact in data["phone"]["contacts"]] == ["Noor"]


def test_all_of_the_cast_are_contacts_once_anybody_is_entered_by_their_address_where_they_have_no_name():
    data = {**entered(ADA), "gmail": {"accounts": [{"username": "desk@example.com"}]}}

    data = enter_people(data, [CastEntry(NOOR)], APPS)

    assert [contact["first_name"] for contact in data["phone"]["contacts"]] == ["Noor", "desk@example.com"]
    assert list(World.from_data(data).problems()) == []


def test_a_changed_address_changes_wherever_it_stands():
    data = enter_messages(entered(ADA, NOOR), [CastMessage("noor@example.com", "ada@example.com", "Thursday")])
    moved = CastPerson("Noor", "Haddad", "n.haddad@example.com", "4155550101", ("coworker",))

    data = enter_people(data, [CastEntry(moved, NOOR)], APPS)

    assert "noor@example.com" not in str(data)
    assert data["gmail"]["emails"][0]["sender"] == "n.haddad@example.com"
    assert read_cast(data, APPS) == (ADA, moved)


def test_what_else_the_apps_hold_stays():
    todo = {
        "accounts": [{"username": "ada@example.com", "registered_at": "2026-01-01"}],
        "projects": [{"name": "Move"}],
    }

    data = enter_people({"todoist": todo}, [CastEntry(ADA)], {"todoist": "email"})

    assert data["todoist"]["projects"] == [{"name": "Move"}]
    assert data["todoist"]["accounts"][0]["registered_at"] == "2026-01-01"


@pytest.mark.parametrize(
    ("person", "flaw"),
    [
        (CastPerson(), "first_name"),
        (CastPerson("Ada", email="ada at example"), "email"),
        (CastPerson("Ada", phone_number="12-34"), "phone_number"),
        (CastPerson("Ada", passwords={"gmail": "x"}), "email"),
        (CastPerson("A\0da"), "first_name"),
    ],
)
def test_a_person_that_no_app_would_take_is_refused(person: CastPerson, flaw: str):
    assert [field for field, _ in person.flaws()] == [flaw]


def test_any_name_that_text_can_hold_is_taken():
    assert list(CastPerson("Zoë 😀", "O’Brien", "zoe@example.com", relationships=("Köchin",)).flaws()) == []


def test_a_request_can_cite_how_somebody_is_reached_and_signs_in():
    assert dict(ADA.citations({"gmail": "Gmail", "phone": "Phone"})) == {
        "ada@example.com": "email address of Ada Berg",
        "4155550100": "phone number of Ada Berg",
        "My Gmail email is ada@example.com and password is 'm41l'.": "Gmail sign-in",
        "My phone number is 4155550100 and password is 'ph0ne'.": "Phone sign-in",
    }


@pytest.mark.parametrize(
    ("name", "people", "messages"),
    [
        ("law_trainee", ["stmcco@gmail.com", "la-mcco@gmail.com", "2873148336"], ["Supplementation"]),
        ("marketer", ["les_ball@gmail.com", "Denise Maldonado"], []),
    ],
)
def test_every_sign_in_of_a_real_persona_works_once_what_its_tasks_name_is_made(
    name: str, people: list[str], messages: list[str], pibench_data: Path
):
    folder = pibench_data / name
    files = {f"{name}/{path.relative_to(folder)}": path.read_bytes() for path in folder.rglob("*.y*ml")}
    [episode] = read_personas(files).episodes
    used = {tool_domain(tool) for tool in episode.persona.tools}
    apps = {app: declared.signs_in_by for app, declared in declared_apps().items() if app in used}

    named = named_people(episode, {}, {}, apps)
    mail = named_messages(episode, {}, tuple(row.person for row in named))
    data = enter_people({}, [CastEntry(row.person) for row in named], apps)
    data = enter_messages(data, [row.message for row in mail])

    assert [str(row.person) for row in named] == people
    assert [row.message.subject for row in mail] == messages
    world = World.from_data(data)
    assert list(world.problems()) == []
    for each in (each for found in sign_ins(episode).values() for each in found):
        assert world.call(f"{each.app}__login", {"username": each.username, "password": each.password}).ok
    assert named_people(episode, {}, data, apps) == ()
    assert named_messages(episode, data, read_cast(data, apps)) == ()
