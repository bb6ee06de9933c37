from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.test import Client

from evaluation.audits.rounds import choose_rounds
from evaluation.audits.sessions import auditable_sessions, freeze_session
from evaluation.models import Session, Turn, Verdict
from evaluation.pilots.control import control_pilot
from evaluation.pilots.session_work import work_on
from evaluation.results.pilot_report import pilot_report
from evaluation.results.scores import read_scores
from studio.domain.task import ExactCheck, ToolEvidence, Trigger
from tests.evaluation.builders import file, intents, rubric, rule, task
from tests.evaluation.factories import person
from tests.evaluation.pilots.builders import start, statuses, work_through
from tests.evaluation.stub_model import StubModel, decisions, kind_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries", "stub_key")]


def test_each_turn_is_stored_and_identical_judge_calls_are_made_once(stub: StubModel):
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 2, quote="Done.")
    pilot = work_through(start(stub, task("a", initial_request="Go.", checklist=(rubric("x"), rubric("y")))))

    session = Session.objects.get()
    first, second = session.turns.all()
    assert (pilot.state, session.state, session.turn_count, session.covered) == ("finished", "finished", 2, 1)
    assert (first.user_message, first.reply, second.user_message) == ("Go.", "Done.", first.next_message)
    assert statuses(session) == [(1, "provided", 1), (2, "completed", 1)]
    assert stub.asked == {"agent": 2, "satisfaction": 1, "follow_up": 1, "checklist": 2}
    verdict = Verdict.objects.get(kind="satisfaction", index=2)
    assert (verdict.met, verdict.quote, verdict.supported, verdict.model_call.purpose) == (
        True,
        "Done.",
        True,
        "satisfaction",
    )


def test_strict_skips_met_items_and_compat_judges_every_turn(stub: StubModel):
    stub.checklist = lambda body: decisions(body, lambda index: index == 1)

    work_through(start(stub, task("a", checklist=(rubric("x"), rubric("y", 3)))))

    rows = Verdict.objects.filter(kind="checklist").order_by("judging__scoring", "turn", "index")
    assert list(rows.values_list("judging__scoring", "turn", "index", "met")) == [
        *[("compat", turn, index, index == 1) for turn in (1, 2, 3) for index in (1, 2)],
        ("strict", 1, 1, True),
        ("strict", 1, 2, False),
        ("strict", 2, 2, False),
        ("strict", 3, 2, False),
    ]
    session = Session.objects.get()
    assert (session.comp_compat, session.comp_strict) == (1 / 4, 1 / 4)
    assert session.compat_tokens == session.strict_tokens == 36


@pytest.mark.slow
def test_failed_session_is_zero_in_strict_and_left_out_in_compat(stub: StubModel):
    too_long = (400, '{"error": {"message": "maximum context length", "code": "context_length_exceeded"}}')
    stub.agent = lambda body: "Done." if "fine" in body["messages"][1]["content"] else too_long
    pilot = work_through(
        start(
            stub,
            task("a", initial_request="bad", checklist=(rubric("x"),)),
            task("b", initial_request="fine", checklist=(rubric("y"),), intents=intents("fine")),
        )
    )

    report = pilot_report(pilot)
    failed, fine = report["sessions"]
    assert (pilot.state, failed["state"], fine["state"]) == ("finished", "failed", "finished")
    assert failed["items"] == [
        {"index": 1, "grader": "rubric", "compat": None, "strict": False, "turn": None, "regressed": False}
    ]
    assert (failed["proc"], failed["comp"]) == (0.0, {"compat": None, "strict": 0.0})
    assert report["scores"]["compat"]["comp"] == 1.0
    assert report["scores"]["strict"]["comp"] == 0.5
    assert report["scores"]["strict"]["failed"] == 1


@pytest.mark.slow
def test_infrastructure_failure_is_retried_then_stops_the_pilot_until_resumed(stub: StubModel):
    stub.follow_up = lambda body: (400, '{"error": {"message": "no"}}')
    pilot = work_through(start(stub, task("a", checklist=(rubric("x"),)), task("b")))

    session = Session.objects.order_by("position")[0]
    assert (pilot.state, session.state, session.retry_at) == ("stopped", "error", None)
    assert session.reason
    assert read_scores(pilot)["strict"]["missing"] == 1

    agent_calls = stub.asked["agent"]
    stub.follow_up = lambda body: decisions(body, lambda index: True)
    control_pilot(pilot.pk, "retry", by=None)
    work_through(pilot)
    assert (pilot.state, stub.asked["agent"] - agent_calls) == ("finished", 3)


@pytest.mark.slow
def test_judge_without_usable_answer_is_an_infrastructure_failure(stub: StubModel):
    answers = iter(["what?", "[]"])
    stub.checklist = lambda body: next(answers, None) or decisions(body, lambda index: True)
    pilot = work_through(start(stub, task("a", intents=intents("x"), checklist=(rubric("x"),))))
    assert pilot.state == "finished"

    stub.checklist = lambda body: "never"
    pilot = work_through(start(stub, task("a", checklist=(rubric("other"),))))
    session = Session.objects.get(run__pilot=pilot)
    assert (pilot.state, session.state, session.ended_at is not None) == ("stopped", "error", True)
    assert read_scores(pilot)["strict"]["proc"] == 0.0


def test_ungraded_items_are_null_and_never_not_met(stub: StubModel):
    spec = task(
        "a",
        checklist=(rubric("x"), rule("no rule", None), rule("nothing", ExactCheck(kind="reply_contains"))),
        grader_script="data/p/scripts/gone.py",
    )
    pilot = work_through(start(stub, spec))

    (session,) = pilot_report(pilot)["sessions"]
    assert [(item["grader"], item["compat"], item["strict"]) for item in session["items"]] == [
        ("rubric", True, True),
        ("rule", None, None),
        ("rule", None, None),
        ("rule", None, None),
    ]
    assert (session["ungraded"], session["comp"]) == (3, {"compat": 1.0, "strict": 1.0})
    errors = Verdict.objects.filter(judging__scoring="strict", met=None, index=4).values_list("error", flat=True)
    assert list(errors) == ["The grader script data/p/scripts/gone.py does not exist."]


@pytest.mark.slow
def test_an_environment_trigger_opens_its_session_as_an_event_that_nobody_said(stub: StubModel, client: Client):
    trigger = Trigger(kind="feed", payload={"headline": "Fees rise"})
    pilot = work_through(start(stub, task("a", trigger=trigger, initial_request="", checklist=(rubric("x"),))))

    first = Turn.objects.order_by("number")[0]
    assert first.event == {"kind": "feed", "payload": {"headline": "Fees rise"}, "note": ""}
    asked = next(body for body in stub.bodies if kind_of(body) == "agent")["messages"]
    assert [message["role"] for message in asked] == ["system", "system"]
    assert asked[1]["content"] == first.user_message == first.incoming.text
    traces = [body["messages"][1]["content"] for body in stub.bodies if kind_of(body) == "checklist"]
    assert '<event turn="1" kind="feed">' in traces[0]
    assert "<event" not in traces[-1]

    session = Session.objects.get(run__pilot=pilot)
    client.force_login(person(pilot.benchmark, "reviewer"))
    page = client.get(session.get_absolute_url()).content.decode()
    assert "Event: feed" in page and "Fees rise" in page and 'class="said user"' not in page.split('id="turn-2"')[0]
    document = client.get(f"/api/sessions/{session.pk}/").json()
    assert document["turns"][0]["event"]["payload"] == {"headline": "Fees rise"}
    (row,) = auditable_sessions([pilot], choose_rounds([pilot], None))
    content, _ = freeze_session(row, "judge", [])
    assert content.parts[0].role == "event"


def test_judges_see_the_files_of_the_turn(stub: StubModel):
    pilot = start(
        stub,
        task("a", intents=(), files_read=("a.md", "none.md"), checklist=(rubric("x"),), assets=()),
    )
    work_through(pilot)

    prompts = next(body for body in stub.bodies if "checklist judge" in body["messages"][0]["content"])
    assert "[this file does not exist]" in prompts["messages"][1]["content"]


@pytest.mark.slow
def test_files_are_staged_over_the_earlier_workspace(stub: StubModel):
    pilot = start(
        stub,
        task("a", assets=(file("shared.md", "old"), file("only.md", "kept"))),
        task("b", assets=(file("shared.md", "new"),), files_read=("shared.md", "only.md"), checklist=(rubric("x"),)),
    )
    work_through(pilot)

    prompts = [body["messages"][1]["content"] for body in stub.bodies if "checklist judge" in str(body["messages"][0])]
    assert all("\nnew\n" in text and "\nkept\n" in text for text in prompts)


def test_a_file_that_a_tool_wrote_is_stored_once_and_read_back_with_the_call(stub: StubModel):
    content = "The harbour fee is due — see § 4.\n" * 60
    arguments = {"content": content, "path": "fee.md"}
    call = {"function": {"name": "write_file", "arguments": json.dumps(arguments)}}
    overwritten = {"function": {"name": "write_file", "arguments": json.dumps({"path": "fee.md", "content": "x" * 99})}}
    calls = [{"id": f"c{n}", "type": "function"} | each for n, each in enumerate((overwritten, call))]
    stub.agent = lambda body: (
        "Written." if body["messages"][-1]["role"] == "tool" else {"role": "assistant", "tool_calls": calls}
    )

    work_through(start(stub, task("a")))

    first, second = Session.objects.get().turns.first().tool_calls.all()
    assert first.arguments == {"path": "fee.md", "content": "x" * 99}
    assert list(second.arguments.items()) == list(arguments.items())
    with connection.cursor() as cursor:
        cursor.execute("SELECT length(arguments) FROM evaluation_toolcall WHERE id = %s", [second.pk])
        assert cursor.fetchone()[0] < 100


def test_unstorable_text_is_made_storable(stub: StubModel):
    stub.agent = lambda body: "a\0b"

    pilot = work_through(start(stub, task("a", intents=())))

    assert (pilot.state, Turn.objects.get().reply) == ("finished", "a\ufffdb")


@pytest.mark.slow
def test_report_has_its_documented_shape(stub: StubModel):
    pilot = work_through(
        start(
            stub,
            task("a"),
            task("b", "a", checklist=(rubric("x"),), tool_evidence=(ToolEvidence(tool="t", call=("x",)),)),
        )
    )

    report = pilot_report(pilot)

    assert set(report) >= {"pilot", "state", "sessions", "scores"}
    setup, scored = report["sessions"]
    assert set(scored) >= {
        "persona",
        "task",
        "run",
        "state",
        "turns",
        "intents",
        "items",
        "proc",
        "comp",
        "tokens",
        "setup",
    }
    assert (setup["setup"], setup["proc"], setup["items"]) == (True, None, [])
    assert scored["intents"] == [
        {"index": 1, "status": "provided", "turn": 1, "in_request": False},
        {"index": 2, "status": "provided", "turn": 2, "in_request": False},
    ]
    assert scored["items"] == [
        {"index": 1, "grader": "rubric", "compat": True, "strict": True, "turn": 1, "regressed": False}
    ]
    assert (scored["proc"], scored["comp"]) == (0.0, {"compat": 1.0, "strict": 1.0})
    assert set(scored["tokens"]) == {"agent", "user", "judge"}
    assert scored["tokens"]["agent"] == 36


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_session_holds_no_connection_to_the_database_while_a_model_is_asked(
    stub: StubModel, monkeypatch: pytest.MonkeyPatch
):
    start(stub, task("a", intents=intents("one", "two"), checklist=(rubric("x"),)))
    own = connections[DEFAULT_DB_ALIAS]
    monkeypatch.setitem(own.settings_dict, "CONN_MAX_AGE", 0)  # one that is given back is closed, as pools take it
    own.close()
    held: list[str] = []
    answer = stub.answer

    def look(body: dict[str, Any]) -> Any:
        if own.connection is not None:
            held.append(kind_of(body))
        return answer(body)

    monkeypatch.setattr(stub, "answer", look)
    work_on(Session.objects.get().pk)

    assert Session.objects.get().state == "finished"
    assert stub.asked.keys() >= {"agent", "satisfaction", "follow_up", "checklist"}
    assert held == []
