"""What all simulated apps have in common."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocol.clock import MOVING, Clock
from evaluation.protocol.history import tools_history
from evaluation.tools import Workspace, toolbox_for
from evaluation.tools.apps import AppDataError, World, describe, differences
from evaluation.tools.apps.catalog import APPS, api_of

NOTES, PHONE = APPS["simple_note"].example, APPS["phone"].example
ADA = {"username": "ada@example.com", "password": "notes-of-ada"}


@pytest.fixture
def world() -> World:
    return World.from_data({"simple_note": NOTES, "phone": PHONE})


def token_of(world: World) -> str:
    return str(world.call("simple_note__login", ADA).response["access_token"])


def test_wrong_password_and_unknown_account_get_the_same_answer(world: World):
    wrong = world.call("simple_note__login", ADA | {"password": "guess"})
    unknown = world.call("simple_note__login", ADA | {"username": "eve@example.com"})

    assert not wrong.ok
    assert wrong == unknown
    assert wrong.response == {"message": "Wrong username or password.", "status": 401}


def test_people_without_a_password_cannot_log_in(world: World):
    assert not world.call("phone__login", {"username": "4155550101", "password": ""}).ok
    assert not world.call("phone__login", {"username": "4155550101", "password": " "}).ok


def test_token_expires_with_the_clock_and_ends_at_logout(world: World):
    token = token_of(world)
    assert world.call("simple_note__search_notes", {"access_token": token}).ok

    world.clock.start += timedelta(hours=1)
    expired = world.call("simple_note__search_notes", {"access_token": token})
    assert (expired.ok, expired.response["message"]) == (False, "The access_token has expired. Log in again.")

    token = token_of(world)
    world.call("simple_note__logout", {"access_token": token})
    assert world.call("simple_note__search_notes", {"access_token": token}).response["status"] == 401


def test_names_with_and_without_the_prefix_are_the_same_api(world: World):
    arguments = {"title": "Todo", "access_token": token_of(world)}

    assert world.call("simple_note__create_note", arguments).response["note_id"] == 2
    assert world.call("mcp_appworld_simple_note__create_note", arguments).response["note_id"] == 3


@pytest.mark.parametrize(
    ("name", "arguments", "status", "message"),
    [
        ("simple_note__show_note", {"note_id": 99}, 404, "You have no note with note_id 99."),
        ("simple_note__show_note", {"note_id": "first"}, 422, "note_id: Input should be a valid integer"),
        ("simple_note__create_note", {}, 422, "title: Field required"),
        ("simple_note__create_note", {"title": "A", "colour": "red"}, 422, "colour: Extra inputs are not permitted"),
        ("simple_note__fly", {}, 404, "There is no API 'simple_note__fly'."),
        ("nowhere__fly", {}, 404, "There is no API 'nowhere__fly'."),
    ],
)
def test_refused_call_says_why_and_changes_nothing(
    world: World, name: str, arguments: dict[str, Any], status: int, message: str
):
    token = token_of(world)
    before = world.snapshot()

    result = world.call(name, arguments | ({"access_token": token} if "fly" not in name else {}))

    assert (result.ok, result.response["status"]) == (False, status)
    assert message in result.response["message"]
    assert world.snapshot() == before


def test_failure_in_the_middle_of_a_call_undoes_its_beginning(world: World):
    state = world.state("simple_note")
    notes = state.tables["notes"]
    before = world.snapshot()

    def add_and_delete_then_break() -> None:
        with state.transaction():
            first = next(iter(notes))
            notes.next_id()
            notes.remove(first.note_id)
            notes.put(first)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        add_and_delete_then_break()

    assert world.snapshot() == before
    assert notes.last == 1


def test_unchanged_apps_are_preserved_byte_for_byte():
    seeds = {"simple_note": json.dumps(NOTES).encode(), "phone": json.dumps(PHONE).encode()}
    world = World(seeds)
    world.call("phone__login", {"username": "4155550100", "password": "wrong"})
    world.call("phone__get_current_date_and_time", {})
    token_of(world)

    after = world.snapshot()

    assert after["phone"] is seeds["phone"]
    assert after["simple_note"] != seeds["simple_note"]


def test_what_a_session_left_is_read_and_written_to_the_same_bytes(world: World):
    token = token_of(world)
    steps = [
        ("create_note", {"title": "A"}),
        ("create_note", {"title": "B"}),
        ("delete_note", {"note_id": 2}),
        ("update_note", {"note_id": 1, "title": "C"}),
        ("create_note", {"title": "D"}),
    ]
    for name, arguments in steps:
        assert world.call(f"simple_note__{name}", {**arguments, "access_token": token}).ok
        content = world.snapshot()["simple_note"]
        assert APPS["simple_note"].new_state(json.loads(content)).to_json() == content


def test_search_follows_a_record_that_changed(world: World):
    token = token_of(world)

    def titles(query: str) -> list[str]:
        found = world.call("simple_note__search_notes", {"query": query, "access_token": token}).response
        return [note["title"] for note in found]

    assert titles("pack") == ["Packing list"]
    world.call("simple_note__update_note", {"note_id": 1, "title": "Shopping", "access_token": token})
    assert (titles("pack"), titles("shop")) == ([], ["Shopping"])


def test_restored_world_goes_on_with_the_same_numbers(world: World):
    token = token_of(world)
    note = world.call("simple_note__create_note", {"title": "A", "access_token": token}).response["note_id"]
    world.call("simple_note__delete_note", {"note_id": note, "access_token": token})

    restored = World(world.snapshot())

    again = restored.call("simple_note__create_note", {"title": "B", "access_token": token})
    assert again.response["note_id"] == note + 1
    assert restored.snapshot()["phone"] == world.snapshot()["phone"]


def test_lists_say_which_page_comes_next(world: World):
    token = token_of(world)
    for number in range(6):
        world.call("simple_note__create_note", {"title": f"Note {number}", "access_token": token})

    first = world.call("simple_note__search_notes", {"access_token": token})
    second = world.call("simple_note__search_notes", {"access_token": token, "page_index": first.next_page})

    assert (len(first.response), len(second.response)) == (5, 2)
    assert first.document()["next_page_index"] == 1
    assert "next_page_index" not in second.document()


def test_differences_are_described(world: World):
    before = world.snapshot()
    token = token_of(world)
    world.call("simple_note__create_note", {"title": "Shopping", "access_token": token})
    world.call("simple_note__update_note", {"note_id": 1, "pinned": True, "access_token": token})
    middle = world.snapshot()
    world.call("simple_note__delete_note", {"note_id": 2, "access_token": token})

    assert [describe(change) for change in differences(before, middle)] == [
        "Simple Note: note “Packing list”: pinned from no to yes",
        "Simple Note: note “Shopping” added",
    ]
    assert [describe(change) for change in differences(middle, world.snapshot())] == [
        "Simple Note: note “Shopping” deleted"
    ]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[]", "simple_note: this must be a JSON object with a list of records for each table."),
        (b"{", "simple_note: this is not JSON"),
        (b'{"pages": []}', "simple_note: there is no table “pages”. There are accounts, notes."),
        (b'{"notes": {}}', "simple_note, notes: this must be a list of records."),
        (b'{"last_numbers": []}', "simple_note, last_numbers: this must be an object with a whole number"),
        (b'{"last_numbers": {"notes": "x"}}', "simple_note, last_numbers: this must be an object with a whole number"),
        (b'{"notes": [{"note_id": NaN}]}', "simple_note: this is not JSON"),
        (b'{"notes": [{"owner": "a"}]}', "simple_note, notes, record 1 title: Field required."),
        (
            b'{"notes": [{"note_id": 1, "owner": "a", "title": "A"}, {"note_id": 1, "owner": "a", "title": "B"}]}',
            "simple_note, notes: two records have the note_id 1.",
        ),
    ],
)
def test_unusable_data_is_told_to_its_author(data: bytes, message: str):
    with pytest.raises(AppDataError) as error:
        World({"simple_note": data}).state("simple_note")

    assert message in str(error.value)


def test_data_of_an_unknown_app_is_refused():
    with pytest.raises(AppDataError, match="There is no app “fax”"):
        World({"fax": b"{}"})


def test_records_that_refer_to_nothing_are_problems():
    world = World.from_data({"simple_note": {"notes": [{"owner": "nobody@example.com", "title": "A"}]}})

    assert list(world.problems()) == ["simple_note: notes 1: there is no account 'nobody@example.com' (owner)."]


def test_clock_starts_at_the_time_of_the_episode():
    world = World(clock=Clock(datetime(2027, 3, 2, 8, 15)))

    answer = world.call("phone__get_current_date_and_time", {}).response

    assert answer == {"date": "Tuesday, 02 March 2027", "time": "08:15:00", "iso": "2027-03-02T08:15:00"}


def test_bound_app_tools_act_on_the_world_and_answer_as_graders_read_it(world: World, tmp_path):
    toolbox = toolbox_for(Workspace(tmp_path), ["mcp_appworld_simple_note__create_note", "fax__send"], world)
    names = [schema["function"]["name"] for schema in toolbox.schemas]
    assert "mcp_appworld_simple_note__create_note" in names
    assert "fax__send" not in names
    token = token_of(world)

    done = toolbox.call("mcp_appworld_simple_note__create_note", json.dumps({"title": "Todo", "access_token": token}))
    refused = toolbox.call("mcp_appworld_simple_note__create_note", json.dumps({"title": "Todo", "access_token": "x"}))

    assert (done.ok, json.loads(done.result)["response"]["note_id"]) == (True, 2)
    assert done.changes == ("Simple Note: note “Todo” added",)
    assert (refused.ok, json.loads(refused.result)["response"]["status"], refused.changes) == (False, 401, ())


def test_every_api_describes_itself_and_asks_for_a_token_unless_it_is_public():
    public = {"login", "signup", "get_current_date_and_time", "reset_password", "verify_account"}
    public |= {"send_password_reset_code", "send_verification_code"}
    for app in APPS.values():
        for name, api in app.apis.items():
            assert len(api.description) > 10, name
            assert api.login == ("access_token" in api.arguments.model_fields), name
            assert api.login or name.partition("__")[2] in public, name


def test_example_data_of_every_app_is_consistent():
    data = {name: app.example for name, app in APPS.items()}

    assert list(World.from_data(data).problems()) == []
    for name, tables in data.items():
        assert World.from_data({name: tables}).state(name).to_json()


@pytest.mark.parametrize(
    ("earlier", "name"),
    [
        ("amazon__post_product_question", "amazon__write_product_question"),
        ("amazon__show_recommendations", "amazon__show_recommended_products"),
        ("splitwise__add_group_member", "splitwise__add_member_to_group"),
        ("todoist__show_notification_count", "todoist__show_notifications_count"),
        ("spotify__show_following_artists", "spotify__show_artist_following"),
    ],
)
def test_earlier_names_bind_the_same_api_and_are_not_listed_twice(earlier: str, name: str):
    assert api_of(earlier) is api_of(name) is not None
    assert earlier not in APPS[earlier.partition("__")[0]].apis


def test_earlier_names_of_arguments_are_accepted_and_not_shown(world: World):
    api = api_of("simple_note__add_content_to_note")
    assert api is not None
    assert list(api.arguments.model_json_schema()["properties"]) == [
        "note_id",
        "added_content",
        "at_start",
        "access_token",
    ]
    token = {"access_token": token_of(world)}
    for name in ("content", "added_content"):
        assert world.call("simple_note__add_content_to_note", {"note_id": 1, name: f"With {name}", **token}).ok
    note = world.call("simple_note__show_note", {"note_id": 1, **token}).response
    assert note["content"].endswith("With content\nWith added_content")


def mail(number: int, sent_at: str, **more: Any) -> dict[str, Any]:
    return {
        "email_id": number,
        "sender": "bo@example.org",
        "recipients": ["ada@example.org"],
        "sent_at": sent_at,
    } | more


def subjects(world: World) -> list[str]:
    ada = {"username": "ada@example.org", "password": "mail-of-ada"}
    token = world.call("gmail__login", ada).response["access_token"]
    return [thread["subject"] for thread in world.call("gmail__show_inbox_threads", {"access_token": token}).response]


def mailbox(clock: Clock) -> World:
    emails = [mail(1, "2026-04-13T08:00:00", subject="Old"), mail(2, "2026-04-13T09:20:00", subject="Soon")]
    account = {"username": "ada@example.org", "password": "mail-of-ada"}
    return World.from_data({"gmail": {"accounts": [account], "emails": emails}}, clock)


def test_what_is_dated_later_does_not_exist_yet_and_is_kept():
    clock = Clock(datetime(2026, 4, 13, 9, 0), MOVING)
    world = mailbox(clock)

    before = subjects(world)
    left = World(world.snapshot(), clock)
    clock.begin(3)

    assert before == ["Old"]
    assert [*map(sorted, (subjects(world), subjects(left)))] == [["Old", "Soon"]] * 2


def test_records_made_meanwhile_have_numbers_of_their_own():
    clock = Clock(datetime(2026, 4, 13, 9, 0), MOVING)
    world = mailbox(clock)
    token = world.call("gmail__login", {"username": "ada@example.org", "password": "mail-of-ada"}).response
    sent = {"email_addresses": ["bo@example.org"], "subject": "New", "body": "Hello"}
    made = world.call("gmail__send_email", sent | {"access_token": token["access_token"]}).response
    clock.begin(3)

    assert made["sent_email_id"] == 3
    assert sorted(email.subject for email in world.state("gmail").tables["emails"]) == ["New", "Old", "Soon"]


def test_under_a_standing_clock_all_records_exist():
    assert sorted(subjects(mailbox(Clock(datetime(2026, 4, 13, 9, 0))))) == ["Old", "Soon"]


def test_a_reply_within_a_thread_stands_in_the_record_of_calls_like_every_mail(tmp_path: Path):
    world = mailbox(Clock())
    ada = {"username": "ada@example.org", "password": "mail-of-ada"}
    token = world.call("gmail__login", ada).response["access_token"]
    box = toolbox_for(Workspace(tmp_path), ["gmail__reply_to_email"], world)

    record = box.call(
        "gmail__reply_to_email", json.dumps({"email_id": 1, "body": "Yes, by noon.", "access_token": token})
    )

    [told] = tools_history([record])
    assert (told["tool_name"], told["call"]["body"]) == ("mcp_appworld_gmail__reply_to_email", "Yes, by noon.")
    [sent] = [change["after"] for change in told["changes"] if change["table"] == "emails"]
    assert (sent["body"], sent["recipients"], sent["response_to_email_id"]) == (
        "Yes, by noon.",
        ("bo@example.org",),
        1,
    )
