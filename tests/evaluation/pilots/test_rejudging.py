"""Judging stored sessions again: what it asks, what it costs, what flips, and which round scores."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client

from evaluation.grading.credit import CreditRule
from evaluation.judging import judgings
from evaluation.judging.judged import correct_verdict
from evaluation.judging.judgings import COMPUTE_RESULTS
from evaluation.models import Judging, JudgingRound, ModelCall, Pilot, ScoringChoice, Session, Verdict
from evaluation.pilots.judging_work import work_on
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, resume_round, start_rejudging
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.comparison import round_report
from evaluation.results.loading import load_pilot
from evaluation.results.pages import compute_ahead
from evaluation.results.pilot_report import pilot_report, scores_json
from evaluation.results.scores import choose_scoring, read_scores
from studio.domain.options import OptionsError
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.results.builders import kept
from tests.evaluation.stub_model import StubModel, decisions, serving
from tests.factories import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[StubModel]:
    """Meets its second intent in turn 2 and every criterion in every turn."""
    monkeypatch.setenv("STUB_API_KEY", "none")
    with serving(StubModel()) as model:
        model.agent = lambda body: f"Turn {sum(message['role'] == 'user' for message in body['messages'])}."
        model.satisfaction = lambda body: decisions(
            body, lambda index: index == 2 and "Turn 2." in str(body["messages"][1])
        )
        yield model


@pytest.fixture
def other(stub: StubModel) -> Iterator[StubModel]:
    """A judge that finds nothing met but the first intent, at once."""
    with serving(StubModel()) as model:
        model.satisfaction = lambda body: decisions(body, lambda index: index == 1)
        model.checklist = lambda body: decisions(body, lambda index: False)
        yield model


def model_of(stub: StubModel, **fields: object):
    return endpoint(f"stub {stub.base_url}", base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY", **fields)


def run_pilot(stub: StubModel, benchmark=None) -> Pilot:
    spec = task("a", intents=intents("One.", "Two."), checklist=(rubric("It is signed."), rubric("It is dated.")))
    model = model_of(stub)
    pilot = pilot_of(benchmark or benchmark_of(spec), agent=model, user_model=model, judge=model)
    return work_through(pilot)


def rejudge(pilot: Pilot, **options: object) -> JudgingRound:
    options = {name: getattr(value, "name", value) for name, value in options.items()}
    started = start_rejudging(plan_rejudging(pilot, RejudgingOptions.read(options)), by=None)
    for pk in started.judgings.values_list("pk", flat=True):
        work_on(pk)
    return started


@pytest.mark.slow
def test_unchanged_judge_and_prompt_ask_nothing_and_decide_the_same(stub: StubModel):
    pilot = run_pilot(stub)
    assert dict(Session.objects.get().intents.values_list("index", "status")) == {1: "provided", 2: "completed"}
    asked = stub.asked.total()

    again = rejudge(pilot)

    report = round_report(again)
    assert stub.asked.total() == asked
    assert report["calls"] == {"asked": 0, "replayed": 6}
    assert (report["judgings"], report["flipped"], report["cost"]) == (3, 0, "0")
    assert report["estimate"] | {"tokens": 0} == {"calls": 0, "tokens": 0, "cost": "0", "recorded": 3}
    rows = Verdict.objects.order_by("judging__scoring", "kind", "turn", "index")
    columns = ("judging__scoring", "kind", "turn", "index", "met", "reason")
    first, second = (list(rows.filter(judging__round__number=number).values_list(*columns)) for number in (1, 2))
    assert first == second
    assert scores_json(load_pilot(pilot, again)) == read_scores(pilot)


@pytest.mark.slow
def test_other_judge_is_asked_once_for_each_question_and_what_flips_is_counted(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    before = read_scores(pilot)
    asked = stub.asked.total()
    judge = model_of(other, input_price=100_000, output_price=0)

    plan = plan_rejudging(pilot, RejudgingOptions(judge=judge.name))
    again = start_rejudging(plan, by=None)
    for row in again.judgings.all():
        work_on(row.pk)

    report = round_report(again)
    assert stub.asked.total() == asked
    assert other.asked["satisfaction"] == 2 and other.asked["follow_up"] == 2 and other.asked["checklist"] == 2
    assert report["calls"]["asked"] == 6
    assert (plan.estimate.calls, plan.estimate.cost) == (5, "5.000000")
    assert report["cost"] == "6.000000"
    flips = {row["kind"]: (row["n"], row["to_yes"], row["to_no"]) for row in report["decisions"]}
    assert flips == {
        "intent met": (3, 1, 1),
        "intent asked for": (1, 0, 0),
        "checklist, compat": (4, 0, 4),
        "checklist, strict": (2, 0, 2),
    }
    assert read_scores(Pilot.objects.get(pk=pilot.pk)) == before  # beside it, until somebody chooses it


@pytest.mark.slow
def test_prompt_version_is_named_in_the_judging_and_asked_with(stub: StubModel):
    pilot = run_pilot(stub)
    before = len(stub.bodies)

    again = rejudge(pilot, prompt="2")

    asked = [body["messages"] for body in stub.bodies[before:]]
    assert asked and all("hidden_requirements" not in str(messages) for messages in asked)
    assert {row.prompts["checklist"]["version"] for row in again.judgings.exclude(scoring="")} == {"2"}
    assert again.prompts["satisfaction"]["version"] == "1"  # has no version 2
    assert len(again.prompts["checklist"]["sha256"]) == 64


@pytest.mark.slow
def test_samples_are_asked_apart_and_the_majority_counts(stub: StubModel):
    pilot = run_pilot(stub)
    before = stub.asked["checklist"]

    again = rejudge(pilot, samples=3)

    assert again.purpose == "stability"
    assert stub.asked["checklist"] - before == 2 * before  # the first sample is in the record
    assert sorted(again.judgings.filter(scoring="strict").values_list("sample", flat=True)) == [1, 2, 3]
    assert scores_json(load_pilot(pilot, again))["strict"] == read_scores(pilot)["strict"]
    rows = Verdict.objects.filter(judging__round=again, judging__scoring="strict", index=1)
    for sample in (2, 3):
        correct_verdict(rows.get(judging__sample=sample), False, by=None)
    (item, _) = pilot_items(pilot, again)
    assert item is False


def pilot_items(pilot: Pilot, judging_round: JudgingRound) -> list[bool | None]:
    choose_scoring(pilot, judging_round, by=None)
    (session,) = pilot_report(pilot)["sessions"]
    return [row["strict"] for row in session["items"]]


@pytest.mark.slow
def test_same_request_of_another_pilot_is_answered_from_the_record(stub: StubModel, other: StubModel):
    first = run_pilot(stub)
    second = run_pilot(stub, first.benchmark)
    judge = model_of(other)
    rejudge(first, judge=judge)
    asked = other.asked.total()

    again = rejudge(second, judge=judge)

    assert other.asked.total() == asked
    assert round_report(again)["calls"] == {"asked": 0, "replayed": 8}
    owners = Verdict.objects.filter(judging__round=again).values_list("model_call__session__run__pilot", flat=True)
    assert set(owners) == {second.pk}  # its own rows, so that the other pilot can be deleted


@pytest.mark.slow
def test_chosen_round_scores_and_the_choice_is_recorded(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    before = read_scores(pilot)
    again = rejudge(pilot, judge=model_of(other))

    choose_scoring(pilot, again, by=None)

    pilot.refresh_from_db()
    scores = read_scores(pilot)
    assert (before["strict"]["comp"], scores["strict"]["comp"]) == (1.0, 0.0)
    assert (before["strict"]["proc"], scores["strict"]["proc"]) == (0.5, 0.5)  # one intent each
    report = pilot_report(pilot)
    assert [(row["index"], row["status"]) for row in report["sessions"][0]["intents"]] == [
        (1, "completed"),
        (2, "open"),
    ]
    assert report["judging"]["round"] == 2
    assert Session.objects.get().comp_strict == 0.0
    assert [row.round.number for row in ScoringChoice.objects.order_by("pk")] == [1, 2]
    assert set(Verdict.objects.scoring().values_list("judging__round__number", flat=True)) == {2}

    choose_scoring(pilot, JudgingRound.objects.get(pilot=pilot, number=1), by=None)
    assert read_scores(pilot) == before


@pytest.mark.slow
def test_choosing_what_scores_has_the_results_computed_before_anybody_opens_them(
    stub: StubModel, other: StubModel, client: Client, monkeypatch, django_capture_on_commit_callbacks
):
    pilot = run_pilot(stub)
    again = rejudge(pilot, judge=model_of(other))
    messages: list[tuple[str, list[int]]] = []
    monkeypatch.setattr(judgings, "enqueue", lambda task, ids: messages.append((task, list(ids))))

    with django_capture_on_commit_callbacks(execute=True):
        choose_scoring(pilot, again, by=None)

    assert messages == [(COMPUTE_RESULTS, [pilot.benchmark_id])]
    Pilot.objects.update(scores=None, scores_key="")
    compute_ahead(pilot.benchmark_id)
    assert Pilot.objects.get().scores["strict"]["comp"] == 0.0
    computed = kept()
    client.force_login(member(pilot.benchmark, "viewer"))
    assert client.get(f"/benchmarks/{pilot.benchmark.slug}/results/").status_code == 200
    assert kept() == computed


@pytest.mark.slow
def test_corrected_verdict_recomputes_the_scores(stub: StubModel):
    pilot = run_pilot(stub)
    assert read_scores(pilot)["strict"]["comp"] == 1.0
    key = pilot.scores_key
    verdict = Verdict.objects.get(judging__scoring="strict", kind="checklist", index=1)

    correct_verdict(verdict, False, by=None, reason="It is not signed.", source="adjudication:1")

    pilot = Pilot.objects.get(pk=pilot.pk)
    scores = read_scores(pilot)
    assert (scores["strict"]["comp"], scores["compat"]["comp"]) == (0.5, 1.0)
    assert pilot.scores_key != key
    met = Verdict.objects.get(kind="satisfaction", index=2, met=True)
    correct_verdict(met, False, by=None)
    assert read_scores(pilot)["strict"]["proc"] == 0.0


@pytest.mark.slow
def test_last_turn_rule_needs_every_turn_judged(stub: StubModel):
    pilot = run_pilot(stub)
    rules = {mode: CreditRule("last_turn") for mode in ScoringMode}
    with pytest.raises(OptionsError, match="every turn"):
        choose_scoring(pilot, JudgingRound.objects.get(pilot=pilot, number=1), rules, by=None)
    stub.checklist = lambda body: decisions(body, lambda index: "Turn 2." not in str(body["messages"][1]))
    again = rejudge(pilot, judge=model_of(stub), prompt="2", every_turn=True)

    choose_scoring(pilot, again, rules, by=None)

    assert read_scores(pilot)["strict"]["comp"] == 0.0
    choose_scoring(pilot, again, {mode: CreditRule("any_turn") for mode in ScoringMode}, by=None)
    assert read_scores(pilot)["strict"]["comp"] == 1.0


@pytest.mark.slow
def test_partial_round_cannot_score(stub: StubModel):
    benchmark = benchmark_of(task("a", intents=()), task("b", intents=()))
    model = model_of(stub)
    pilot = work_through(pilot_of(benchmark, agent=model, user_model=model, judge=model))
    session = Session.objects.first()
    again = rejudge(pilot, sessions=[session.pk])

    with pytest.raises(OptionsError, match="left out 1"):
        choose_scoring(pilot, again, by=None)
    with pytest.raises(OptionsError, match="not a finished session"):
        plan_rejudging(pilot, RejudgingOptions(sessions=[session.pk, 0]))


@pytest.mark.slow
def test_outage_stops_a_judging_and_it_can_be_taken_up(stub: StubModel, other: StubModel):
    pilot = run_pilot(stub)
    other.checklist = lambda body: (400, "{}")
    again = rejudge(pilot, judge=model_of(other))
    assert round_report(again)["states"] == {"error": 2, "finished": 1}
    asked = other.asked["satisfaction"]

    other.checklist = lambda body: decisions(body, lambda index: True)
    assert resume_round(again) == 2
    for row in again.judgings.filter(state="waiting"):
        work_on(row.pk)

    assert round_report(again)["states"] == {"finished": 3}
    assert other.asked["satisfaction"] == asked


@pytest.mark.slow
def test_database_refuses_what_is_not_a_judgings(stub: StubModel):
    pilot = run_pilot(stub)
    strict = Judging.objects.get(scoring="strict")
    other = run_pilot(stub, pilot.benchmark)
    foreign = Judging.objects.get(session__run__pilot=other, scoring="")
    call = ModelCall.objects.filter(session=strict.session, purpose="satisfaction").first()
    refused = [
        lambda: Verdict.objects.create(judging=strict, kind="follow_up", turn=1, index=1, label="x", grader="judge"),
        lambda: Judging.objects.filter(pk=strict.pk).update(judge={"model": "other"}),
        lambda: JudgingRound.objects.filter(pilot=pilot).update(samples=2),
        lambda: ScoringChoice.objects.create(pilot=pilot, round=other.rounds.get(), rules={}),
        lambda: ModelCall.objects.create(
            session=strict.session, judging=foreign, purpose="satisfaction", turn=1, endpoint=call.endpoint,
            request_hash="a1" * 32, content=b"", answered=False,
        ),
        lambda: ModelCall.objects.create(
            session=strict.session, purpose="satisfaction", turn=1, endpoint=call.endpoint, request_hash="a1" * 32,
            content=b"", answered=False,
        ),
        lambda: JudgingRound.objects.create(pilot=pilot, number=2, purpose="scoring"),
    ]  # fmt: skip
    for attempt in refused:
        with pytest.raises(IntegrityError), transaction.atomic():
            _with_constraints(attempt)


def _with_constraints(attempt) -> None:
    attempt()
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


@pytest.mark.slow
def test_command_judges_again_and_reports(stub: StubModel, monkeypatch: pytest.MonkeyPatch):
    pilot = run_pilot(stub)
    monkeypatch.setattr(
        "evaluation.management.commands.rejudge.wait_for_round",
        lambda started: [work_on(row.pk) for row in started.judgings.all()],
    )
    out = StringIO()

    call_command("rejudge", pilot=pilot.pk, samples=2, wait=True, json=True, stdout=out)

    report = json.loads(out.getvalue())
    assert {"pilot", "judgings", "calls", "flipped", "cost"} <= set(report)
    assert (report["pilot"], report["judgings"], report["flipped"]) == (pilot.pk, 6, 0)
    assert report["calls"] == {"asked": 5, "replayed": 7}
    with pytest.raises(SystemExit) as exit:
        call_command("rejudge", pilot=pilot.pk, judge="nobody", json=True, stdout=out, stderr=StringIO())
    assert exit.value.code == 2
