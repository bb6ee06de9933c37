"""Models audit the same sessions as people, and stay apart from them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from annotations.campaigns import close_campaign
from annotations.exports import export_document
from annotations.figures import campaign_figures
from annotations.gold import type_answers
from annotations.models import AuditCampaign
from annotations.results import summarize
from evaluation.audits.known import draw_gold_item
from evaluation.audits.regression import judge_records, regression_cases
from evaluation.models import Judging, JudgingRound, ModelEndpoint
from evaluation.pilots.judging_work import work_on
from evaluation.pilots.model_audits import ModelAuditOptions, plan_model_audit, start_model_audit
from evaluation.pilots.rejudging import RejudgingOptions, plan_rejudging, start_rejudging
from evaluation.results.scores import choose_scoring, read_scores
from studio.domain.options import OptionsError
from tests.annotations.builders import judged, make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import client_of
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import INDEX, StubModel, decisions, kind_of, serving
from tests.factories import a_persona, a_task, a_task_spec

pytestmark = pytest.mark.django_db


class Desk:
    """An audited session: the judge that scores says it is signed and not dated."""

    def __init__(self, scoring: StubModel, other: StubModel) -> None:
        self.scoring, self.other = scoring, other
        scoring.satisfaction = lambda body: decisions(body, lambda index: index == 1)
        scoring.checklist = lambda body: decisions(body, lambda index: index == 1)
        other.satisfaction = lambda body: decisions(body, lambda index: index == 1)
        other.checklist = lambda body: decisions(body, lambda index: True)
        other.agent = in_truth({"satisfaction", "checklist"})
        spec = task("a", intents=intents("One."), checklist=(rubric("It is signed."), rubric("It is dated.")))
        self.judge = self.model_of(scoring)
        self.pilot = work_through(
            pilot_of(benchmark_of(spec), agent=self.judge, user_model=self.judge, judge=self.judge)
        )
        self.auditor = make_person(self.pilot.benchmark, "auditor")
        self.audit = open_audit(self.pilot, by=None, overlap=1, unit="session")

    def model_of(self, stub: StubModel, **fields: object) -> ModelEndpoint:
        name = f"stub {stub.base_url}"
        fields = {"model": name, "input_price": 100_000, "output_price": 0} | fields
        return endpoint(name, base_url=stub.base_url, scripted=False, key_env="STUB_API_KEY", **fields)

    def draw_decisions(self, **options: float) -> AuditCampaign:
        """Two of the three that the judge made."""
        return open_audit(self.pilot, by=None, overlap=1, size=2, strata="pilot", own_tasks=True, **options)  # type: ignore[arg-type]

    def let_audit(self, model: ModelEndpoint, samples: int = 1, audit: AuditCampaign | None = None) -> JudgingRound:
        (started,) = start_model_audit(
            plan_model_audit(audit or self.audit, ModelAuditOptions(model=model.name, samples=samples)), by=None
        )
        for pk in started.judgings.values_list("pk", flat=True):
            work_on(pk)
        return started


def in_truth(yes: Collection[str]) -> Callable[[dict[str, Any]], str]:
    """Answers what is asked with the whole record: yes to these kinds of questions."""

    def answer(body: dict[str, Any]) -> str:
        system, asked = body["messages"][0]["content"], body["messages"][1]["content"]
        kind = "checklist" if "<criterion" in asked else "follow_up" if "the reply asks" in system else "satisfaction"
        decision = {"decision": "YES" if kind in yes else "NO", "quote": "", "reason": "So."}
        decision |= {"style": "Clarify" if kind in yes else ""} if kind == "follow_up" else {}
        return json.dumps({"decisions": [{"index": int(index)} | decision for index in INDEX.findall(asked)]})

    return answer


def questions_in(body: dict[str, Any]) -> tuple[str, str]:
    """Kind, and text of the only question that a judge is asked."""
    asked = next(message["content"] for message in body["messages"] if message["role"] == "user")
    ((index, text),) = re.findall(r'<(?:requirement|criterion) index="(\d+)">(.*?)</', asked)
    assert index == "1"
    return kind_of(body), text


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("STUB_API_KEY", "none")
    with serving(StubModel()) as scoring, serving(StubModel()) as other:
        yield Desk(scoring, other)


@pytest.mark.slow
def test_model_has_its_own_row_of_table_6_and_people_theirs(desk: Desk):
    sealed = judged(desk.audit.packets.get())
    assert sealed == {"intent-1": "completed", "item-1": "yes", "item-2": "no"}
    record_judgment(desk.audit.packets.get(), auditor=desk.auditor, answer="answered", answers=sealed, number=1)
    before = campaign_figures(desk.audit)

    started = desk.let_audit(desk.model_of(desk.other), samples=3)

    report = campaign_figures(desk.audit)
    people, model = report["table6"]
    assert [(row["source"], row["checklist"]["count"], row["checklist"]["n"]) for row in (people, model)] == [
        ("people", 0, 2), (started.judge["name"], 1, 2),
    ]  # fmt: skip
    assert (model["intents"]["count"], model["intents"]["n"]) == (0, 1)
    assert model["model"]["samples"] == 3
    assert (model["model"]["waiting"], model["model"]["judges_itself"], model["model"]["scripted"]) == (0, False, False)
    assert float(model["model"]["cost"]) == 9
    assert {key: report[key] for key in before if key != "table6"} == {
        key: before[key] for key in before if key != "table6"
    }
    assert set(started.judgings.values_list("purpose", "scoring")) == {("audit", ""), ("audit", "strict")}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("yes", "status"),
    [({"satisfaction", "follow_up"}, "completed"), ({"follow_up", "checklist"}, "inferred"), (set(), "provided")],
)
def test_of_whole_sessions_a_model_answers_in_truth_as_people_do_with_all_that_they_read(
    desk: Desk, yes: set[str], status: str
):
    desk.other.agent = in_truth(yes)

    desk.let_audit(desk.model_of(desk.other))

    item = "yes" if "checklist" in yes else "no"
    answers = {row["question"]: row["answer"] for row in export_document(desk.audit)["model_answers"]}
    assert answers == {"intent-1": status, "item-1": item, "item-2": item}
    records = [body["messages"][1]["content"] for body in desk.other.bodies]
    parts = [part["text"] for part in desk.audit.packets.get().content["parts"]]
    assert [all(text in record for text in parts) for record in records] == [True] * 3
    assert sum("before the user" in record.partition("</record>")[2] for record in records) == 2


class SilentOnUsage(StubModel):
    def answer(self, body: dict[str, Any]) -> Any:
        message = {"role": "assistant", "content": super().answer(body)}
        return {"choices": [{"message": message, "finish_reason": "stop"}]}


@pytest.mark.slow
def test_decisions_can_be_audited_where_the_judge_told_no_tokens(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STUB_API_KEY", "none")
    with serving(SilentOnUsage()) as scoring, serving(StubModel()) as other:
        desk = Desk(scoring, other)

        plan = plan_model_audit(desk.draw_decisions(), ModelAuditOptions(model=desk.model_of(other).name))

    assert (plan.calls, plan.tokens, plan.as_json()["cost"]) == (2, 0, None)


def test_scoring_model_is_asked_anew_when_it_audits_itself(desk: Desk):
    drawn = desk.draw_decisions()
    asked = len(desk.scoring.bodies)

    desk.let_audit(desk.judge, audit=drawn)

    assert len(desk.scoring.bodies) == asked + 2
    row = summarize([drawn]).sources[1]
    assert row.model is not None and row.model.judges_itself


def test_unfinished_model_audit_is_labelled_and_changes_no_score(desk: Desk):
    before = read_scores(desk.pilot)

    start_model_audit(plan_model_audit(desk.audit, ModelAuditOptions(model=desk.model_of(desk.other).name)), by=None)

    row = summarize([desk.audit]).sources[1]
    assert row.model is not None and row.model.waiting == 2
    assert row.checklist.rate.n == 0
    assert read_scores(desk.pilot) == before


def test_command_tells_the_cost_before_and_starts_nothing_then(desk: Desk):
    name = desk.model_of(desk.other).name
    out = StringIO()

    options = ["--campaign", str(desk.audit.pk), "--model", name, "--samples", "2", "--estimate", "--json"]
    call_command("audit_model", *options, stdout=out)

    document = json.loads(out.getvalue())
    assert document["started"] is False
    assert (document["sessions"], document["calls"], float(document["cost"])) == (1, 6, 6)
    assert not Judging.objects.filter(purpose="audit").exists()


@pytest.mark.slow
def test_of_single_decisions_a_model_is_asked_the_drawn_ones_alone(desk: Desk):
    record_judgment(
        desk.audit.packets.get(), auditor=desk.auditor, answer="answered", number=1,
        answers=judged(desk.audit.packets.get()),
    )  # fmt: skip
    drawn = desk.draw_decisions()
    model = desk.model_of(desk.other)
    before = read_scores(desk.pilot)

    started = desk.let_audit(model, samples=3, audit=drawn)

    assert Counter(map(questions_in, desk.other.bodies)) == {
        (packet.kind, packet.content["subject"]): 3 for packet in drawn.packets.all()
    }
    assert started.judgings.filter(state="finished", purpose="audit").count() == started.judgings.count()
    _, row = summarize([drawn]).sources
    judge_says_no = sum(judged(packet)["decision"] == "no" for packet in drawn.packets.all())
    assert (row.checklist.rate.n + row.intents.rate.n, row.open) == (2, 0)
    assert row.checklist.rate.count + row.intents.rate.count == judge_says_no
    assert row.model is not None and float(row.model.cost) == float(row.model.estimate) == 6
    assert [(row["model"], row["question"], row["answer"]) for row in export_document(drawn)["model_answers"]] == [
        (model.name, "decision", "yes")
    ] * 2
    people = drawn.packets.order_by("position")[0]
    record_judgment(people, auditor=desk.auditor, answer="no", number=1)
    assert [sum(axis.rate.n for axis in (row.checklist, row.intents)) for row in summarize([drawn]).sources] == [1, 1]
    benchmark = desk.pilot.benchmark
    assert [found.number for found, _ in judge_records(benchmark, regression_cases(benchmark))] == [1]
    assert read_scores(desk.pilot) == before
    with pytest.raises(OptionsError, match="never scores"):
        choose_scoring(desk.pilot, started, by=None)


def test_what_people_are_asked_again_in_truth_a_model_is_asked_too_with_all_that_they_are_shown(desk: Desk):
    drawn = desk.draw_decisions(second=100)
    model = desk.model_of(desk.other)
    desk.other.agent = lambda body: decisions(body, lambda index: False)

    plan = plan_model_audit(drawn, ModelAuditOptions(model=model.name))
    for started in start_model_audit(plan, by=None):
        for pk in started.judgings.values_list("pk", flat=True):
            work_on(pk)

    assert (plan.packets, plan.calls) == (4, 4)
    records = [body["messages"][1]["content"] for body in desk.other.bodies if "in truth" in str(body["messages"][0])]
    assert len(records) == 2
    for packet in drawn.packets.exclude(first=None):
        parts = [part["text"] for part in packet.content["parts"]]
        assert any(all(text in record for text in parts) for record in records)
    [_, given], [_, truth] = (summarize([drawn], truth=second).sources for second in (False, True))
    sure = [judged(packet)["decision"] for packet in drawn.packets.filter(first=None)]
    assert given.checklist.rate.count + given.intents.rate.count == sure.count("no")
    assert truth.checklist.rate.count + truth.intents.rate.count == sure.count("yes")


@pytest.mark.slow
def test_page_api_and_command_estimate_the_drawn_decisions_alone_and_count_what_the_record_knows(desk: Desk):
    drawn, model = desk.draw_decisions(), desk.model_of(desk.other)
    owner = make_person(desk.pilot.benchmark, "owner")
    client = client_of(owner)

    def calls() -> tuple[int, int, str]:
        out = StringIO()
        options = ["--campaign", str(drawn.pk), "--model", model.name, "--samples", "2", "--estimate", "--json"]
        call_command("audit_model", *options, stdout=out)
        asked = {"model": model.name, "samples": 2, "estimate": True}
        answer = client.post(f"/api/audits/{drawn.pk}/model/", asked, content_type="application/json").json()
        page = client.get(f"/audits/{drawn.pk}/model/", {"model": model.name, "samples": 2}).content.decode()
        return json.loads(out.getvalue())["calls"], answer["calls"], " ".join(page.split())

    command, api, page = calls()
    assert (command, api) == (4, 4)
    assert "for about 4 calls" in page and "By what the same 2 decisions took" in page
    desk.let_audit(model, samples=1, audit=drawn)
    assert calls()[:2] == (2, 2)


@pytest.mark.slow
def test_model_is_asked_control_items_as_people_are_and_nothing_tells_it_which_these_are(desk: Desk):
    foreign = "Seventeen zebras crossed every frozen mountain."
    item = a_task_spec().checklist[0].model_copy(update={"criterion": foreign})
    a_task(a_persona(desk.pilot.benchmark, "zookeeper"), user_id="zookeeper", checklist=(item,))
    planner = make_person(desk.pilot.benchmark, "owner")
    sampled = set(desk.draw_decisions().packets.values_list("source", flat=True))
    items = [draw_gold_item(desk.pilot, "decision", by=planner) for _ in range(3)]
    (known,) = (item for item in items if item.source not in sampled)
    type_answers(known, {"decision": "no"}, by=planner)
    drawn = desk.draw_decisions(gold=30, planted=30)
    assert sorted(drawn.packets.values_list("control", flat=True)) == ["", "", "gold", "planted"]

    desk.let_audit(desk.model_of(desk.other), audit=drawn)

    assert {subject for _, subject in map(questions_in, desk.other.bodies)} == {
        packet.content["subject"] for packet in drawn.packets.all()
    }
    (_, model) = campaign_figures(drawn)["table6"]
    assert model["checklist"]["n"] + model["intents"]["n"] == 2
    assert (model["model"]["gold_right"], model["model"]["planted_missed"]) == (None, None)
    close_campaign(drawn, by=planner)
    drawn.refresh_from_db()
    (_, model) = campaign_figures(drawn)["table6"]
    rates = [(model["model"][name]["count"], model["model"][name]["n"]) for name in ("gold_right", "planted_missed")]
    assert rates == [(0, 1), (1, 1)]
    page = client_of(planner).get(f"/audits/{drawn.pk}/").content.decode()
    assert "of the planted" in page


@pytest.mark.slow
def test_of_whole_sessions_a_model_is_asked_planted_questions_and_gold_items_too_and_no_score_knows_of_them(desk: Desk):
    foreign = (rubric("Seventeen zebras crossed every mountain."), rubric("Eleven lanterns burned below."))
    spec = task("b", intents=intents("Two."), checklist=foreign)
    benchmark_of(spec, into=desk.pilot.benchmark)
    models = dict.fromkeys(("agent", "user_model", "judge"), desk.judge)
    other_pilot = work_through(pilot_of(desk.pilot.benchmark, **models, tasks=["b"]))
    planner = make_person(desk.pilot.benchmark, "owner")
    known = draw_gold_item(other_pilot, "session", by=planner)
    type_answers(known, {"item-1": "no", "intent-1": "completed"}, by=planner)
    audit = open_audit(desk.pilot, by=None, overlap=1, unit="session", own_tasks=True, gold=30, planted=30)
    assert sorted(audit.packets.values_list("control", flat=True)) == ["", "gold"]
    (drawn,) = audit.packets.filter(control="")
    (planted,) = [row["subject"] for row in drawn.content["questions"] if row["key"] in drawn.known]
    plan = plan_model_audit(audit, ModelAuditOptions(model=desk.model_of(desk.other).name))

    for started in start_model_audit(plan, by=None):
        for pk in started.judgings.values_list("pk", flat=True):
            work_on(pk)

    assert (plan.packets, plan.sessions, plan.calls) == (2, 2, 6)
    own_and_planted = 2
    assert sum(planted in json.dumps(body) for body in desk.other.bodies) == own_and_planted
    (_, model) = campaign_figures(audit)["table6"]
    assert (model["checklist"]["n"], model["intents"]["n"]) == (2, 1)
    answers = export_document(audit)["model_answers"]
    assert {row["question"] for row in answers} == {"item-1", "item-2", "intent-1"} and len(answers) == 3
    close_campaign(audit, by=planner)
    audit.refresh_from_db()
    (_, model) = campaign_figures(audit)["table6"]
    rates = [(model["model"][name]["count"], model["model"][name]["n"]) for name in ("gold_right", "planted_missed")]
    assert rates == [(1, 2), (1, 1)]


@pytest.mark.slow
def test_page_tells_the_cost_and_starts_the_audit(desk: Desk):
    model = desk.model_of(desk.other)
    client = client_of(make_person(desk.pilot.benchmark, "owner"))
    url = f"/audits/{desk.audit.pk}/model/"
    assert url in client.get(f"/audits/{desk.audit.pk}/").content.decode()

    told = client.get(url, {"model": model.name, "samples": 2}).content.decode()
    started = client.post(url, {"model": model.name, "samples": "2"})

    assert "for about 6 calls" in " ".join(told.split())
    assert started.headers["Location"] == f"/audits/{desk.audit.pk}/"
    assert JudgingRound.objects.get(purpose="audit").samples == 2
    assert "asked 2×" in client.get(f"/audits/{desk.audit.pk}/").content.decode()


def test_page_says_that_the_cost_of_a_model_without_a_price_is_unknown(desk: Desk):
    model = desk.model_of(desk.other, input_price=None, output_price=None)
    client = client_of(make_person(desk.pilot.benchmark, "owner"))
    url = f"/audits/{desk.audit.pk}/model/"

    told = client.get(url, {"model": model.name, "samples": 1}).content.decode()
    client.post(url, {"model": model.name, "samples": "1"})
    row = client.get(f"/audits/{desk.audit.pk}/").content.decode()

    assert "<b>Unknown cost</b> for about 3 calls" in " ".join(told.split())
    assert "; cost unknown; 2 judgings to come" in " ".join(row.split())


def test_model_audits_a_judging_by_the_protocol_of_that_judging_though_another_scores(desk: Desk):
    again = plan_rejudging(desk.pilot, RejudgingOptions(protocol="paper"))
    for pk in start_rejudging(again, by=None).judgings.values_list("pk", flat=True):
        work_on(pk)
    audit = open_audit(desk.pilot, by=None, overlap=1, size=2, round=2)

    (plan,) = plan_model_audit(audit, ModelAuditOptions(model=desk.judge.name)).plans

    assert (desk.pilot.protocol, plan.protocol) == ("release", "paper")


@pytest.mark.slow
def test_regression_set_says_how_each_judge_does_on_what_people_decided(desk: Desk):
    sealed = judged(desk.audit.packets.get())
    decided = sealed | {"item-2": "yes"}
    record_judgment(desk.audit.packets.get(), auditor=desk.auditor, answer="answered", answers=decided, number=1)
    again = RejudgingOptions(judge=desk.model_of(desk.other).name, samples=2)
    for pk in start_rejudging(plan_rejudging(desk.pilot, again), by=None).judgings.values_list("pk", flat=True):
        work_on(pk)
    out = StringIO()

    call_command("judge_regression", "--benchmark", desk.pilot.benchmark.slug, "--json", stdout=out)

    document = json.loads(out.getvalue())
    assert [(case["key"], case["people"], case["judge_erred"]) for case in document["cases"]] == [
        ("intent-1", "completed", False), ("item-1", "yes", False), ("item-2", "yes", True),
    ]  # fmt: skip
    first, other = document["judges"]
    assert (first["purpose"], first["n"], first["false_fail"], first["on_errors"]) == ("scoring", 3, 1, 0.0)
    assert first["accuracy"] == pytest.approx(2 / 3)
    assert (other["purpose"], other["accuracy"], other["false_pass"], other["on_errors"]) == ("rejudging", 1.0, 0, 1.0)
    assert (other["flips"], other["repeated"] > 0, first["repeated"]) == (0, True, 0)
