"""Pilots whose user speaks in the persona's voice."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from evaluation.engine import conversation
from evaluation.models import ModelCall, Session
from evaluation.results.pilot_report import pilot_report
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.models import Role
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, release_blockers, rubric, task
from tests.evaluation.builders import file as stored_file
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel, decisions, said
from tests.factories import member

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


def one_task() -> object:
    return task("a", checklist=(rubric("x"),), intents=intents("The fee is 30 crowns.", "Sign as Ada."))


@pytest.mark.slow
def test_the_user_says_answers_in_voice_and_those_of_which_no_phrasing_held_verbatim(stub: StubModel):
    stub.voice_check = lambda body: (
        '{"says_all": true, "holds_back": %s, "reason": ""}'
        % ("false" if "Sign as Ada" in str(body).partition("must_hold_back")[0] else "true")
    )
    pilot = work_through(start(stub, one_task(), user_style="in-voice"))

    turns = list(Session.objects.get().turns.values_list("next_message", "next_style"))
    assert turns == [("As I would say it.", "in-voice"), ("Sign as Ada.", "verbatim"), ("", "")]
    assert (stub.asked["voice"], stub.asked["voice_check"]) == (4, 2)  # the same words are not checked again
    report = pilot_report(pilot)
    assert (report["user_style"], report["said_verbatim"]) == ("in-voice", 1)
    assert set(ModelCall.objects.filter(purpose="voice").values_list("judging__scoring", flat=True)) == {""}
    assert pilot.config["user"]["prompts"]["voice"]["version"] == "1"


@pytest.mark.slow
def test_verbatim_asks_nobody_how_to_say_it(stub: StubModel):
    pilot = work_through(start(stub, one_task()))

    assert stub.asked["voice"] == 0
    assert list(Session.objects.get().turns.values_list("next_message", "next_style")) == [
        ("The fee is 30 crowns.", ""), ("Sign as Ada.", ""), ("", ""),
    ]  # fmt: skip
    assert pilot.user_style == "verbatim"


@pytest.mark.parametrize(
    ("style", "words"), [("in-voice", "scripted model"), ("sung", "should be 'verbatim' or 'in-voice'")]
)
def test_unavailable_style_is_rejected(style, words):
    with pytest.raises(OptionsError, match=words) as error:
        pilot_of(benchmark_of(one_task()), user_style=style)
    assert error.value.field == "user_style"


def test_by_default_the_user_of_the_paper_listens_chooses_and_speaks_and_that_of_the_release_does_not(stub: StubModel):
    three = task("a", checklist=(rubric("x"),), intents=intents("The fee is 30.", "Sign as Ada.", "Send it."))
    pilot = work_through(start(stub, three, protocol="paper"))

    assert pilot.user_style == "in-voice"
    assert {name: prompt["version"] for name, prompt in pilot.config["user"]["prompts"].items()} == {
        "voice": "7", "voice_check": "8", "next_intent": "5",
    }  # fmt: skip
    [session] = Session.objects.all()
    assert list(session.intents.order_by("turn").values_list("index", "status")) == [
        (3, "provided"), (2, "provided"), (1, "provided"),
    ]  # fmt: skip
    assert list(session.turns.values_list("next_style", flat=True)) == ["in-voice"] * 3 + [""]
    assert (stub.asked["next_intent"], stub.asked["voice"]) == (2, 3)
    first = next(body for body in stub.bodies if "They bring up" in str(body))["messages"][1]["content"]
    assert "No files were written." in first and "<assistant turn=" in first


@pytest.mark.slow
def test_what_the_request_says_is_no_secret_and_reminded_of_last(stub: StubModel):
    request = "Please write the note. Sign the note as Ada Lovelace of the harbour office."
    said_already = "Sign the note as Ada Lovelace of the harbour office."
    wanted = intents("The fee is 30.", said_already, "Send it to the registry.")
    pilot = work_through(
        start(stub, task("a", initial_request=request, checklist=(rubric("x"),), intents=wanted), protocol="paper")
    )

    assert list(pilot.config["said_in_requests"].values()) == [{"a": [2]}]
    [session] = Session.objects.all()
    assert list(session.intents.order_by("turn").values_list("index", flat=True)) == [3, 1, 2]
    assert stub.asked["next_intent"] == 1  # among two
    checks = [body["messages"][1]["content"] for body in stub.bodies if "You check a message" in str(body)]
    held_back = [check.partition("<only_if_asked>\n")[2].partition("\n</only_if_asked>")[0] for check in checks]
    assert held_back == ["The fee is 30.", "(nothing)", "(nothing)"]


@pytest.mark.slow
def test_the_user_sees_the_files_that_judges_see_and_knows_the_sign_ins_of_the_apps(stub: StubModel):
    accounts = [
        {"username": "ada@example.com", "first_name": "Ada", "password": "tide-7"},
        {"username": "noor@example.com", "first_name": "Noor"},
    ]
    persona = PersonaSpec(user_id="clerk", files=(stored_file("apps/gmail.json", json.dumps({"accounts": accounts})),))
    wanted = task(
        "a", checklist=(rubric("x"),), intents=intents("One.", "Two."), assets=(stored_file("in.md", "tides"),)
    )
    model = endpoint("stub", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    work_through(
        pilot_of(
            benchmark_of(wanted, persona=persona),
            agent=model,
            user_model=model,
            judge=model,
            protocol="paper",
            accept_warnings=True,
        )
    )

    asked = [body["messages"][1]["content"] for body in stub.bodies if "You play a person" in str(body)]
    assert len(asked) == 3
    for question in asked:
        assert '<file path="in.md" status="input" counted="words 1, characters 5, lines 1, paragraphs 1">' in question
        assert "\ntides\n</file>" in question
        assert "Gmail sign-in: My Gmail email is ada@example.com and password is 'tide-7'." in question
        assert "email address of Noor: noor@example.com" in question


def test_what_the_user_knows_is_read_once(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    read = []
    monkeypatch.setattr(conversation, "know", lambda persona, _: read.append(persona) or "A clerk.")

    work_through(start(stub, one_task(), protocol="paper"))

    assert Session.objects.get().turn_count == 3 and len(read) == 1


def test_what_a_check_finds_is_told_to_who_speaks_and_recited_rules_are_refused_without_one(stub: StubModel):
    rule = "The letter explicitly states the fee of 30 crowns."
    drafts = iter(["It is 30, and blue.", f"Thanks. {rule}", "Please put our fee of 30 into it."])
    stub.voice = lambda body: said(next(drafts))
    blue = {"reason": "Blue is added.", "answers": True, "says_all": True, "holds_back": True, "adds_nothing": False}
    fine = blue | {"adds_nothing": True}
    stub.voice_check = lambda body: json.dumps(blue if "and blue" in str(body) else fine)

    work_through(start(stub, task("a", checklist=(rubric("x"),), intents=intents(rule)), protocol="paper"))

    turns = list(Session.objects.get().turns.values_list("next_message", "next_style"))
    assert turns == [("Please put our fee of 30 into it.", "in-voice"), ("", "")]
    assert (stub.asked["voice"], stub.asked["voice_check"]) == (3, 2)
    asked = [body["messages"][-1]["content"] for body in stub.bodies if "cannot be sent" in str(body)]
    assert ["Blue is added." in asked[0], "word for word" in asked[1]] == [True, True]


def test_the_user_knows_what_they_want_besides_so_that_none_of_it_is_denied(stub: StubModel):
    wanted = intents("The fee is 30.", "Sign as Ada.", "Keep British spelling.")
    stub.next_intent = lambda body: '{"reason": "", "index": 1}'
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 3)

    work_through(start(stub, task("a", checklist=(rubric("x"),), intents=wanted), protocol="paper"))

    asked = [body["messages"][1]["content"] for body in stub.bodies if "You play a person" in str(body["messages"][0])]
    first, second = [each for each in asked if "<say>" in each]
    assert "<wanted_too>\nKeep British spelling.\n</wanted_too>" in first
    assert "<only_if_asked>\nSign as Ada.\n</only_if_asked>" in first
    assert "<only_if_asked>\n(nothing)\n</only_if_asked>" in second
    assert "<wanted_too>\nKeep British spelling.\n</wanted_too>" in second


@pytest.mark.slow
def test_a_session_that_misses_the_same_thing_three_times_is_blocked_and_counted_beside_the_score(
    stub: StubModel, client: Client
):
    stub.voice = lambda body: said("I do not have it.", "The Gmail  password")
    wanted = intents(*(f"Wish {number}." for number in range(6)))

    pilot = work_through(start(stub, task("a", checklist=(rubric("x"),), intents=wanted), protocol="paper"))

    [session] = Session.objects.all()
    assert (session.state, session.turn_count) == ("finished", 3)
    assert session.blocked == "The agent needed, 3 times, what the user does not have: The Gmail password."
    assert list(session.intents.values_list("status", flat=True)) == ["provided"] * 6
    report = pilot_report(pilot)
    assert (report["sessions"][0]["blocked"], report["scores"]["strict"]["blocked"]) == (session.blocked, 1)
    assert report["scores"]["strict"]["n"] == 1
    client.force_login(member(pilot.benchmark, Role.OWNER))
    page = client.get(session.get_absolute_url()).content.decode()
    assert session.blocked in page and "So it ended after turn 3." in page
    assert f"/p/{session.run.persona_revision.persona.user_id}/can-be-done/" in page
    assert "Blocked: the user could not go on" in client.get(pilot.get_absolute_url()).content.decode()


@pytest.mark.slow
def test_a_release_is_blocked_by_a_task_that_was_blocked_in_its_evidence(stub: StubModel):
    stub.voice = lambda body: said("I do not have it.", "password")
    pilot = work_through(start(stub, task("a", checklist=(rubric("x"),), intents=intents(*"abcdef")), protocol="paper"))

    found = [blocker for blocker in release_blockers(pilot.benchmark) if blocker.code == "task-blocked"]

    assert [(blocker.task, blocker.acceptable) for blocker in found] == [("a", True)]
    assert (
        "In pilot 1 its session was blocked. The agent needed, 3 times, what the user does not have: password."
        in found[0].message
    )


@pytest.mark.slow
def test_a_scripted_user_speaks_verbatim_in_both_protocols():
    for protocol in ("paper", "release"):
        pilot = work_through(pilot_of(benchmark_of(one_task()), protocol=protocol))

        assert (pilot.user_style, pilot.state) == ("verbatim", "finished")
