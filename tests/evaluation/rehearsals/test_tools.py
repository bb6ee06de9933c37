"""Tools in the assistant's seat: forms from what they declare, calls as an agent makes them, mail as a mailbox."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from django.test import Client

from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.calls import desk_of, make_call, offered_tools
from evaluation.rehearsals.lifecycle import RehearsalError, start_rehearsal
from evaluation.rehearsals.tool_forms import fields_of, read_arguments
from evaluation.tools.general import GENERAL, GeneralTool
from studio.domain.base import FileRef
from studio.domain.persona import PersonaSpec
from studio.domain.task import ChecklistItem, ExactCheck
from studio.models import Blob, Task
from tests.evaluation.builders import benchmark_of, endpoint, intents, task
from tests.evaluation.factories import person
from tests.evaluation.rehearsals.builders import reloaded, shown, work_on

pytestmark = pytest.mark.django_db
MAIL = {
    "accounts": [{"username": "ada@example.com", "password": "mail-of-ada"}, {"username": "noor@example.com"}],
    "emails": [
        {
            "sender": "noor@example.com",
            "recipients": ["ada@example.com"],
            "subject": "Agenda <b>Thursday</b>",
            "body": "Two points, please.",
            "sent_at": "2026-04-10T16:20:00",
        }
    ],
}
CLOCK = b'{"now": "2027-03-01T09:00", "tasks": {"a": "2027-03-02T10:30"}}'
PRE = "mcp_appworld_"
TOOLS = ("login", "show_inbox_threads", "show_thread", "reply_to_email", "send_email", "mark_thread_starred")
RULES = (
    ChecklistItem(
        uid="1",
        criterion="A reply was sent.",
        grader="rule",
        rule=ExactCheck(kind="tool_called", tool="gmail__reply_to_email", arguments={"email_id": 1}),
    ),
    ChecklistItem(
        uid="2",
        criterion="Nothing else was changed.",
        grader="rule",
        rule=ExactCheck(kind="nothing_else_changed"),
    ),
    ChecklistItem(
        uid="3",
        criterion="A mail was sent.",
        grader="rule",
        rule=ExactCheck(kind="tool_called", tool="gmail__send_email"),
    ),
)


@pytest.fixture
def row(client: Client) -> Rehearsal:
    return begun(client, tuple(f"{PRE}gmail__{name}" for name in TOOLS))


def begun(client: Client, tools: tuple[str, ...]) -> Rehearsal:
    content = json.dumps(MAIL).encode()
    sha, clock = Blob.objects.store([content, CLOCK])
    persona = PersonaSpec(
        user_id="clerk",
        tools=tools,
        files=(
            FileRef(path="apps/gmail.json", sha256=sha, size=len(content)),
            FileRef(path="apps/clock.json", sha256=clock, size=len(CLOCK)),
        ),
    )
    benchmark = benchmark_of(task("a", intents=intents("Name the fee."), checklist=RULES), persona=persona)
    author = person(benchmark, "author")
    client.force_login(author)
    endpoint("scripted-user")
    judge = ModelEndpoint.objects.get(name="scripted-user")
    return start_rehearsal(Task.objects.get(persona__benchmark=benchmark), by=author, seat="agent", judge=judge)


def token_of(row: Rehearsal) -> str:
    make_call(row.pk, f"{PRE}gmail__login", {"username": "ada@example.com", "password": "mail-of-ada"})
    return json.loads(desk_of(reloaded(row)).made[-1].result)["response"]["access_token"]


def call(client: Client, row: Rehearsal, page: str, tool: str, **arguments: str):
    form = {"tool": f"{PRE}gmail__{tool}"} | {f"arg.{name}": value for name, value in arguments.items()}
    return client.post(f"/rehearsals/{row.pk}/{page}/", form, follow=True)


def test_form_of_a_tool_marks_what_is_needed_and_says_what_is_wrong_beside_the_field(client: Client, row: Rehearsal):
    page = client.get(f"/rehearsals/{row.pk}/tools/?tool={PRE}gmail__reply_to_email").content.decode()
    assert 'name="arg.email_id"' in page and "Reply to an email, in its thread and under its subject." in page
    assert "To everybody in it, instead of its sender alone." in page

    answer = call(client, row, "tools", "reply_to_email", email_id="first", body=" ", access_token="x")

    page = answer.content.decode()
    assert answer.status_code == 422
    assert 'id="arg-email_id-error" role="alert">Write a whole number.' in page
    assert 'id="arg-body-error" role="alert">This field is required.' in page
    assert 'value="first"' in page
    assert desk_of(reloaded(row)).made == ()


def test_violation_of_the_declaration_is_shown_beside_its_field(row: Rehearsal):
    tool = offered_tools(row)[f"{PRE}gmail__send_email"]

    assert [field.name for field in fields_of(tool) if field.required] == ["email_addresses", "access_token"]
    values, errors = read_arguments(tool, {"email_addresses": "a@example.com, nobody", "access_token": "x"})
    assert values["email_addresses"] == ["a@example.com", "nobody"]
    assert list(errors) == ["email_addresses"]


def test_tools_are_offered_without_a_look_at_the_turns(row: Rehearsal, django_assert_num_queries):
    row = reloaded(row)
    offered = offered_tools(row)

    with django_assert_num_queries(0):
        assert offered_tools(row).keys() == offered.keys()


@pytest.mark.slow
def test_mail_is_read_and_answered_in_a_mailbox_and_the_change_is_shown(client: Client, row: Rehearsal):
    page = client.get(f"/rehearsals/{row.pk}/mail/").content.decode()
    assert "Log in" in page and "<code>mail-of-ada</code>" in page

    page = call(client, row, "mail", "login", username="ada@example.com", password="mail-of-ada").content.decode()
    made = desk_of(reloaded(row)).made
    assert [each.name for each in made] == [
        f"{PRE}gmail__login", f"{PRE}gmail__show_inbox_threads",
    ]  # fmt: skip
    token = json.loads(made[0].result)["response"]["access_token"]
    assert "Inbox (1 unread)" in page and "noor@example.com" in page and "10 Apr 2026, 16:20" in page
    assert "Agenda &lt;b&gt;Thursday&lt;/b&gt;" in page and "Two points, please." in page
    page = call(client, row, "mail", "show_thread", access_token=token, email_thread_id="1").content.decode()
    assert '<div class="words mail-body">Two points, please.</div>' in page
    page = client.get(f"/rehearsals/{row.pk}/mail/?thread=1&reply").content.decode()
    assert '<input type="hidden" name="arg.email_id" value="1">' in page

    page = call(client, row, "mail", "reply_to_email", access_token=token, email_id="1", body="One").content.decode()

    assert "email “Re: Agenda &lt;b&gt;Thursday&lt;/b&gt;” added" in page
    assert '<div class="words mail-body">One</div>' in page, "the thread as it is now"
    assert "4 calls in this turn" in page
    assert desk_of(reloaded(row)).made[-1].effects[0]["after"]["sent_at"] == "2027-03-02T10:30:16"


@pytest.mark.slow
def test_mailbox_is_never_stale_whoever_changed_it(client: Client, row: Rehearsal):
    token = token_of(row)
    mail = {"email_addresses": ["ada@example.com"], "subject": "To myself", "body": "Later.", "access_token": token}

    make_call(row.pk, f"{PRE}gmail__send_email", mail)
    make_call(row.pk, f"{PRE}gmail__mark_thread_starred", {"email_thread_id": 1, "access_token": token})

    page = client.get(f"/rehearsals/{row.pk}/mail/").content.decode()
    assert page.index("To myself") < page.index("Agenda &lt;b&gt;"), "newest first"
    assert '<span title="starred">★</span>' in page
    assert client.get(f"/rehearsals/{row.pk}/mail/?thread=99&page=7").status_code == 200


@pytest.mark.slow
def test_mail_is_offered_only_where_the_assistant_has_it(client: Client, row: Rehearsal):
    assert f"/rehearsals/{row.pk}/mail/" in client.get(f"/rehearsals/{row.pk}/").content.decode()

    row = begun(client, ("read_file", "exec"))
    mail = f"/rehearsals/{row.pk}/mail/"

    assert mail not in client.get(f"/rehearsals/{row.pk}/").content.decode()
    assert mail not in client.get(f"/rehearsals/{row.pk}/tools/").content.decode()
    assert "no tool of Gmail is bound to it" in client.get(mail).content.decode()


@pytest.mark.slow
def test_commands_are_offered_or_the_page_says_why_not(client: Client, row: Rehearsal, monkeypatch):
    page = f"/rehearsals/{row.pk}/tools/"
    if not GENERAL["exec"].lacking():
        assert "exec" in offered_tools(row)
        make_call(row.pk, "exec", {"command": "echo 12 > fee.txt && cat fee.txt"})
        desk = desk_of(reloaded(row))
        assert desk.made[-1].result == "12" and "fee.txt" in desk.files
        assert "Commands cannot be run here" not in client.get(page).content.decode()

    monkeypatch.setattr("evaluation.tools.general.GENERAL", general_without_sandbox("There is no sandbox."))
    monkeypatch.setattr("evaluation.rehearsals.calls.GENERAL", general_without_sandbox("There is no sandbox."))

    assert "exec" not in offered_tools(row)
    assert "Commands cannot be run here. There is no sandbox." in client.get(page).content.decode()
    assert "Helpers and tool servers are for agents" in client.get(page).content.decode()


def general_without_sandbox(reason: str) -> dict[str, GeneralTool]:
    return {**GENERAL, "exec": replace(GENERAL["exec"], lacking=lambda: reason)}


def test_calls_belong_to_the_turn_and_rules_see_them(row: Rehearsal, scripted):
    token = token_of(row)
    make_call(row.pk, f"{PRE}gmail__reply_to_email", {"email_id": 1, "body": "One", "access_token": token})
    make_call(row.pk, f"{PRE}gmail__show_thread", {"email_thread_id": 9, "access_token": token})

    lifecycle.submit_reply(row.pk, "I have answered. The fee is named.")
    work_on(row)

    assert [(call.name.removeprefix(PRE), call.ok) for call in desk_of(reloaded(row)).turns[0].calls] == [
        ("gmail__login", True), ("gmail__reply_to_email", True), ("gmail__show_thread", False),
    ]  # fmt: skip
    transcript = shown(row)
    assert transcript.current is None
    assert [(item.item.criterion, item.strict.status) for item in transcript.items] == [
        ("A reply was sent.", "met"), ("Nothing else was changed.", "met"), ("A mail was sent.", "not_met"),
    ]  # fmt: skip
    assert next((change.noun, change.kind) for change in transcript.turns[0].app_changes) == ("email", "added")


def test_a_refused_call_changes_nothing_and_is_stored_as_an_agent_would_read_it(row: Rehearsal):
    before = desk_of(row).apps
    make_call(row.pk, f"{PRE}gmail__send_email", {"email_addresses": ["a@example.com"], "access_token": "stolen"})

    desk = desk_of(reloaded(row))
    [stored] = desk.made
    assert (stored.ok, json.loads(stored.result)["response"]["status"]) == (False, 401)
    assert desk.apps == before


def test_tools_are_not_used_out_of_turn(client: Client, row: Rehearsal):
    lifecycle.end_rehearsal(row.pk)

    with pytest.raises(RehearsalError, match="over"):
        make_call(row.pk, f"{PRE}gmail__login", {"username": "a", "password": "b"})
    assert call(client, row, "tools", "login", username="a", password="b").status_code == 422
    assert call(client, row, "tools", "delete_draft").status_code == 422
