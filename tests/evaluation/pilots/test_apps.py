"""Simulated apps in sessions: offered, acted on, carried along, restored."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluation.models import Pilot, Session, Snapshot, ToolCall, Verdict
from evaluation.pilots.control import control_pilot
from evaluation.releases.blocker_kinds import readiness_of
from evaluation.transcripts.session import load_transcript
from studio.domain.persona import PersonaSpec
from studio.domain.task import ExactCheck, TaskSpec
from studio.models import Blob
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, release_blockers, rule, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel, decisions, kind_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]

NOTES = {"accounts": [{"username": "ada@example.com", "password": "secret"}]}
TOOLS = (
    "simple_note__login",
    "simple_note__create_note",
    "simple_note__search_notes",
    "phone__get_current_date_and_time",
)


def persona(notes: str = json.dumps(NOTES), tools: tuple[str, ...] = TOOLS) -> PersonaSpec:
    clock = '{"now": "2027-03-01T09:00", "tasks": {"b": "2027-03-02T10:30"}}'
    files = (file("apps/simple_note.json", notes), file("apps/clock.json", clock))
    return PersonaSpec(user_id="ada", tools=tools, files=files)


def start(stub: StubModel, *tasks: TaskSpec, persona: PersonaSpec, **options: Any) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return pilot_of(benchmark_of(*tasks, persona=persona), agent=model, user_model=model, judge=model, **options)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    # an id of its own, or nanobot takes a second call for the first
    return {"role": "assistant", "content": "", "tool_calls": [{"id": name, "type": "function", "function": function}]}


def writes_a_note(body: dict[str, Any]) -> Any:
    """Log in, write a note, list the notes, look at the clock, answer."""
    results = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    if not results:
        return call("simple_note__login", username="ada@example.com", password="secret")
    token = json.loads(results[0])["response"]["access_token"]
    if len(results) == 1:
        return call("simple_note__create_note", title="Fees", access_token=token)
    if len(results) == 2:
        return call("simple_note__search_notes", access_token=token)
    if len(results) == 3:
        return call("phone__get_current_date_and_time")
    return "Done."


@pytest.mark.slow
def test_apps_are_carried_from_session_to_session(stub: StubModel):
    stub.agent = writes_a_note
    tasks = task("a", intents=intents("x")), task("b", intents=intents("y"))
    pilot = work_through(start(stub, *tasks, persona=persona()))

    assert pilot.state == "finished"
    first, second = Session.objects.order_by("position")
    listed = ToolCall.objects.filter(name="simple_note__search_notes").order_by("turn__session__position")
    assert [len(json.loads(row.result)["response"]) for row in listed] == [1, 2]
    created = ToolCall.objects.filter(name="simple_note__create_note").order_by("turn__session__position")
    assert [json.loads(row.result)["response"]["note_id"] for row in created] == [1, 2]
    assert created[0].changes == ["Simple Note: note “Fees” added"]
    clock = ToolCall.objects.filter(name="phone__get_current_date_and_time").order_by("turn__session__position")
    assert [json.loads(row.result)["response"]["iso"] for row in clock] == [
        "2027-03-01T09:00:00",
        "2027-03-02T10:30:00",
    ]
    states = [turn.snapshot.apps["simple_note"] for session in (first, second) for turn in session.turns.all()]
    assert len(json.loads(bytes(Blob.objects.get(pk=states[-1]).content))["notes"]) == 2


@pytest.mark.slow
def test_time_goes_on_with_sessions_turns_and_calls_in_the_paper_protocol(stub: StubModel):
    def looks_at_the_clock(body: dict[str, Any]) -> Any:
        return call("phone__get_current_date_and_time") if body["messages"][-1]["role"] == "user" else "Done."

    stub.agent = looks_at_the_clock
    tasks = [task(name, intents=intents("x", "y")) for name in "abc"]

    work_through(start(stub, *tasks, persona=persona(), protocol="paper"))

    looked = ToolCall.objects.order_by("turn__session__position", "turn__number")
    assert [json.loads(row.result)["response"]["iso"] for row in looked][:4] == [
        "2027-03-01T09:00:04",
        "2027-03-01T09:15:04",
        "2027-03-01T09:30:04",
        "2027-03-02T10:30:04",
    ]
    briefed = {body["messages"][0]["content"] for body in stub.bodies if kind_of(body) == "agent"}
    assert {part for briefing in briefed for part in briefing.split("\n\n") if "session begins" in part} == {
        f"This session begins on {moment}."
        for moment in ("Monday, 1 March 2027, 09:00", "Tuesday, 2 March 2027, 10:30", "Wednesday, 3 March 2027, 09:00")
    }


@pytest.mark.slow
def test_session_taken_up_again_finds_the_apps_as_its_last_turn_left_them(stub: StubModel):
    stub.agent = writes_a_note
    stub.follow_up = lambda body: (400, '{"error": {"message": "no"}}')
    pilot = work_through(start(stub, task("a", intents=intents("x")), persona=persona()))
    assert pilot.state == "stopped"  # the note was written in a turn that was never stored
    assert not ToolCall.objects.exists()

    stub.follow_up = lambda body: decisions(body, lambda index: True)
    control_pilot(pilot.pk, "retry", by=None)
    work_through(pilot)

    [created] = ToolCall.objects.filter(name="simple_note__create_note")
    assert json.loads(created.result)["response"]["note_id"] == 1
    assert pilot.state == "finished"


@pytest.mark.slow
def test_rules_on_records_are_graded_at_the_end_in_both_modes(stub: StubModel):
    stub.agent = writes_a_note
    note = {"app": "simple_note", "table": "notes"}
    items = (
        rule("The note is there.", ExactCheck(kind="record_exists", arguments={"title": "Fees"}, **note)),
        rule("It is signed.", ExactCheck(kind="record_exists", containing={"content": "Ada"}, **note)),
        rule("Nothing else was changed.", ExactCheck(kind="nothing_else_changed")),
    )

    pilot = work_through(start(stub, task("a", intents=intents("x"), checklist=items), persona=persona()))

    session = Session.objects.select_related("revision", "run__persona_revision", "run__pilot").get(run__pilot=pilot)
    transcript = load_transcript(session)
    assert [(change.name, change.kind) for change in transcript.app_changes] == [("Fees", "added")]
    assert transcript.turns[0].app_changes == transcript.app_changes
    assert [turn.app_changes for turn in transcript.turns[1:]] == [()] * (len(transcript.turns) - 1)
    for mode in ("strict", "compat"):
        verdicts = Verdict.objects.filter(judging__scoring=mode).order_by("index")
        assert [(row.met, row.reason) for row in verdicts] == [
            (True, "simple_note.notes 1 is there at the end."),
            (False, "No such record of simple_note.notes was left by this session."),
            (True, "Nothing else was changed in the apps."),
        ]


@pytest.mark.slow
def test_apps_that_nothing_changes_are_stored_once(stub: StubModel):
    stub.agent = lambda body: "Done."
    seeding = persona()
    work_through(start(stub, task("a"), task("b"), persona=seeding))

    seeded = seeding.app_data["simple_note"].sha256
    assert {snapshot.apps["simple_note"] for snapshot in Snapshot.objects.all()} == {seeded}


def test_invalid_app_data_stops_the_session_as_an_infrastructure_failure(stub: StubModel):
    stub.agent = lambda body: call("simple_note__login", username="a", password="b")

    work_through(start(stub, task("a"), persona=persona('{"pages": []}')))

    session = Session.objects.get()
    assert (session.state, session.failure) == ("error", "AppDataError")
    assert "there is no table “pages”" in session.reason


@pytest.mark.slow
def test_task_whose_tool_is_missing_is_not_evidence(stub: StubModel):
    tasks = task("a", tools=("fax__send",)), task("b", tools=("simple_note__create_note",))
    benchmark = benchmark_of(*tasks, persona=persona(tools=("simple_note__create_note", "fax__send")))
    real = {"base_url": stub.base_url, "scripted": False}
    served = {role: endpoint(f"real-{role}", model=role, **real) for role in ("agent", "user_model", "judge")}
    work_through(pilot_of(benchmark, **served))

    found = {(blocker.code, blocker.task): blocker.message for blocker in release_blockers(benchmark)}

    assert found["tool-missing", "a"].endswith(
        "needs the tool fax__send, and no agent gets it here: pilots of this task are no evidence."
    )
    assert ("task-not-piloted", "b") not in found
    assert "tool-missing" in {kind.code for kind in readiness_of(benchmark).kinds}
