from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from evaluation.leases.sessions import acquire
from evaluation.models import ModelCall, Pilot, Session, SessionIntent, Turn, Verdict
from evaluation.pilots.lifecycle import cancel_pilot, retry_pilot, sweep
from evaluation.pilots.session_work import work_on
from evaluation.results.pilot_report import pilot_report
from studio.domain.task import ExactCheck, ToolEvidence
from tests.evaluation.builders import benchmark_of, endpoint, file, intents, pilot_of, rubric, rule, task
from tests.evaluation.stub_model import StubModel, decisions, serving

pytestmark = pytest.mark.django_db


@pytest.fixture
def stub() -> Iterator[StubModel]:
    with serving(StubModel()) as model:
        yield model


@pytest.fixture(autouse=True)
def hasty(settings) -> None:
    settings.SESSION_RETRY_SECONDS = 0
    settings.SESSION_ATTEMPTS = 2


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_API_KEY", "none")


def start(stub: StubModel, *tasks: object, **options: object) -> Pilot:
    model = endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY")
    return pilot_of(benchmark_of(*tasks), agent=model, user_model=model, judge=model, **options)


def work_through(pilot: Pilot) -> Pilot:
    """Every session in order, then what waits for the end of its run."""
    for _ in range(2):
        for pk in Session.objects.filter(run__pilot=pilot).order_by("run", "position").values_list("pk", flat=True):
            work_on(pk)
    pilot.refresh_from_db()
    return pilot


def statuses(session: Session) -> list[tuple[int, str, int]]:
    return list(session.intents.values_list("index", "status", "turn"))


def test_each_turn_is_stored_and_identical_judge_calls_are_made_once(stub: StubModel):
    stub.satisfaction = lambda body: decisions(body, lambda index: index == 2, quote="Done")
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
        "Done",
        True,
        "satisfaction",
    )


def test_strict_skips_met_items_and_compat_judges_every_turn(stub: StubModel):
    stub.checklist = lambda body: decisions(body, lambda index: index == 1)

    work_through(start(stub, task("a", checklist=(rubric("x"), rubric("y", 3)))))

    rows = Verdict.objects.filter(kind="checklist").order_by("scoring", "turn", "index")
    assert list(rows.values_list("scoring", "turn", "index", "met")) == [
        *[("compat", turn, index, index == 1) for turn in (1, 2, 3) for index in (1, 2)],
        ("strict", 1, 1, True),
        ("strict", 1, 2, False),
        ("strict", 2, 2, False),
        ("strict", 3, 2, False),
    ]
    session = Session.objects.get()
    assert (session.comp_compat, session.comp_strict) == (1 / 4, 1 / 4)
    assert session.tokens["judge_compat"] == session.tokens["judge_strict"] == 36


def test_sessions_of_a_run_go_in_order_and_compat_waits_for_the_last(stub: StubModel):
    pilot = start(stub, task("a", checklist=(rubric("x"),)), task("b", checklist=(rubric("y"),)))
    first, second = Session.objects.order_by("position")

    assert work_on(second.pk) is False
    assert work_on(first.pk) is True
    first.refresh_from_db()
    assert (first.state, first.comp_strict, first.comp_compat) == ("finished", 1.0, None)
    assert work_on(first.pk) is False
    assert work_on(second.pk) is True
    pilot.refresh_from_db()
    assert pilot.state == "running"
    assert work_on(first.pk) is True
    pilot.refresh_from_db()
    first.refresh_from_db()
    assert (pilot.state, first.comp_compat) == ("finished", 1.0)


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
    assert failed["items"] == [{"index": 1, "grader": "rubric", "compat": None, "strict": False, "turn": None}]
    assert (failed["proc"], failed["comp"]) == (0.0, {"compat": None, "strict": 0.0})
    assert report["scores"]["compat"]["comp"] == 1.0
    assert report["scores"]["strict"]["comp"] == 0.5
    assert report["scores"]["strict"]["failed"] == 1


def test_infrastructure_failure_is_retried_then_stops_the_pilot_until_resumed(stub: StubModel):
    stub.follow_up = lambda body: (400, '{"error": {"message": "no"}}')
    pilot = work_through(start(stub, task("a", checklist=(rubric("x"),)), task("b")))

    session = Session.objects.order_by("position")[0]
    assert (pilot.state, session.state, session.retry_at) == ("stopped", "error", None)
    assert session.reason
    assert pilot.scores["strict"]["missing"] == 1

    agent_calls = stub.asked["agent"]
    stub.follow_up = lambda body: decisions(body, lambda index: True)
    retry_pilot(pilot.pk, by=None)
    work_through(pilot)
    assert (pilot.state, stub.asked["agent"] - agent_calls) == ("finished", 3)


def test_judge_without_usable_answer_is_an_infrastructure_failure(stub: StubModel):
    answers = iter(["what?", "[]"])
    stub.checklist = lambda body: next(answers, None) or decisions(body, lambda index: True)
    pilot = work_through(start(stub, task("a", intents=intents("x"), checklist=(rubric("x"),))))
    assert pilot.state == "finished"

    stub.checklist = lambda body: "never"
    pilot = work_through(start(stub, task("a", checklist=(rubric("other"),))))
    session = Session.objects.get(run__pilot=pilot)
    assert (pilot.state, session.state, session.ended_at is not None) == ("stopped", "error", True)
    assert pilot.scores["strict"]["proc"] == 0.0


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
    errors = Verdict.objects.filter(scoring="strict", met=None, index=4).values_list("error", flat=True)
    assert list(errors) == ["The grader script data/p/scripts/gone.py does not exist."]


def test_session_of_a_dead_worker_resumes_without_paying_twice(stub: StubModel, settings):
    settings.SESSION_LEASE_SECONDS = 0.01
    stub.follow_up = lambda body: decisions(body, lambda index: False)
    pilot = start(stub, task("a", intents=intents("one", "two", "three")))
    session = Session.objects.get()
    replies = iter(["first", "second"])

    stub.agent = lambda body: next(replies, (400, "{}"))
    work_on(session.pk)
    session.refresh_from_db()
    stored = list(session.turns.values_list("number", "reply"))
    answered = ModelCall.objects.filter(response__isnull=False).count()
    Session.objects.update(state="running", claimed_by="dead", lease_until="2020-01-01T00:00Z", retry_at=None)

    stub.agent = lambda body: "third"
    assert sweep() == 1
    before = stub.asked.total()
    work_through(pilot)

    session.refresh_from_db()
    assert stored == [(1, "first"), (2, "second")]
    assert [turn.reply for turn in session.turns.all()] == ["first", "second", "third", "third"]
    assert stub.asked.total() - before == ModelCall.objects.filter(response__isnull=False).count() - answered


@pytest.mark.django_db(transaction=True)
def test_worker_without_its_lease_stores_nothing(stub: StubModel):
    pilot = start(stub, task("a"))
    session = Session.objects.get()

    def take_over(body: dict) -> str:
        Session.objects.update(claimed_by="someone else")
        connection.close()  # this runs in a thread of the server
        return "too late"

    stub.agent = take_over
    work_on(session.pk)

    assert (Turn.objects.count(), SessionIntent.objects.count()) == (0, 0)
    assert Session.objects.get().claimed_by == "someone else"
    assert pilot.state == "waiting"


@pytest.mark.django_db(transaction=True)
def test_cancelled_session_stores_nothing(stub: StubModel):
    pilot = start(stub, task("a"))

    def cancel(body: dict) -> str:
        cancel_pilot(pilot.pk, by=None)
        connection.close()  # this runs in a thread of the server
        return "too late"

    stub.agent = cancel
    work_on(Session.objects.get().pk)

    pilot.refresh_from_db()
    assert (pilot.state, Session.objects.get().state, Turn.objects.count()) == ("cancelled", "cancelled", 0)


@pytest.mark.django_db(transaction=True)
def test_only_one_worker_acquires_a_session(stub: StubModel):
    start(stub, task("a"))
    pk = Session.objects.get().pk
    together = threading.Barrier(6)

    def want(_: int) -> bool:
        try:
            together.wait()
            return acquire(pk) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        got = list(pool.map(want, range(6)))

    assert got.count(True) == 1


def test_leases_of_dead_processes_expire_and_those_of_live_ones_do_not(stub: StubModel):
    start(stub, task("a"), task("b"))
    first, second = Session.objects.order_by("position")
    gone = subprocess.Popen(["true"])
    gone.wait()
    held_here = acquire(first.pk).claimed_by
    Session.objects.filter(pk=first.pk).update(claimed_by=held_here.replace(f":{os.getpid()}:", f":{gone.pid}:"))
    lease = timezone.now() + timedelta(minutes=1)
    Session.objects.filter(pk=second.pk).update(state="running", claimed_by=held_here, lease_until=lease)

    assert sweep() == 1

    assert acquire(first.pk) is not None
    assert Session.objects.get(pk=second.pk).lease_until == lease


def test_session_that_kills_its_workers_is_stopped(stub: StubModel):
    start(stub, task("a"))
    Session.objects.update(state="running", claimed_by="dead", lease_until="2020-01-01T00:00Z", attempts=2)

    assert sweep() == 0

    session = Session.objects.get()
    assert (session.state, session.reason) == ("error", "Its worker stopped 2 times before a turn was stored.")
    assert Pilot.objects.get().state == "stopped"


def test_triggered_session_opens_with_its_signal(stub: StubModel):
    from studio.domain.task import Trigger

    work_through(start(stub, task("a", trigger=Trigger(kind="feed", payload={"n": 1}), initial_request="")))

    assert Turn.objects.order_by("number")[0].user_message.startswith("[Environment signal: feed]")


def test_judges_see_the_files_of_the_turn(stub: StubModel):
    pilot = start(
        stub,
        task("a", intents=(), files_read=("a.md", "none.md"), checklist=(rubric("x"),), assets=()),
    )
    work_through(pilot)

    prompts = next(body for body in stub.bodies if "checklist judge" in body["messages"][0]["content"])
    assert "[this file does not exist]" in prompts["messages"][1]["content"]


def test_files_are_staged_over_the_earlier_workspace(stub: StubModel):
    pilot = start(
        stub,
        task("a", assets=(file("shared.md", "old"), file("only.md", "kept"))),
        task("b", assets=(file("shared.md", "new"),), files_read=("shared.md", "only.md"), checklist=(rubric("x"),)),
    )
    work_through(pilot)

    prompts = [body["messages"][1]["content"] for body in stub.bodies if "checklist judge" in str(body["messages"][0])]
    assert all("\nnew\n" in text and "\nkept\n" in text for text in prompts)


def test_unstorable_text_is_made_storable(stub: StubModel):
    stub.agent = lambda body: "a\0b"

    pilot = work_through(start(stub, task("a", intents=())))

    assert (pilot.state, Turn.objects.get().reply) == ("finished", "a\ufffdb")


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
        {"index": 1, "status": "provided", "turn": 1},
        {"index": 2, "status": "provided", "turn": 2},
    ]
    assert scored["items"] == [{"index": 1, "grader": "rubric", "compat": True, "strict": True, "turn": 1}]
    assert (scored["proc"], scored["comp"]) == (0.0, {"compat": 1.0, "strict": 1.0})
    assert set(scored["tokens"]) == {"agent", "user", "judge"}
    assert scored["tokens"]["agent"] == 36
