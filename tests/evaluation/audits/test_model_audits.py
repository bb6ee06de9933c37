"""Models audit the same sessions as people, and stay apart from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command

from annotations.figures import campaign_figures
from annotations.models import AuditCampaign
from annotations.results import summarize
from evaluation.audits.campaigns import open_audit
from evaluation.models import Judging, JudgingRound, ModelEndpoint
from evaluation.pilots.judging_work import work_on
from evaluation.pilots.model_audits import plan_model_audit, start_model_audit
from evaluation.pilots.rejudging import RejudgingError
from evaluation.results.scores import read_scores
from tests.annotations.builders import make_person, record_judgment
from tests.evaluation.audits.test_sessions import client_of
from tests.evaluation.builders import benchmark_of, endpoint, intents, pilot_of, rubric, task
from tests.evaluation.pilots.builders import work_through
from tests.evaluation.stub_model import StubModel, decisions, serving

pytestmark = pytest.mark.django_db


class Desk:
    """An audited session: the judge that scores says it is signed and not dated."""

    def __init__(self, scoring: StubModel, other: StubModel) -> None:
        self.scoring, self.other = scoring, other
        scoring.satisfaction = lambda body: decisions(body, lambda index: index == 1)
        scoring.checklist = lambda body: decisions(body, lambda index: index == 1)
        other.satisfaction = lambda body: decisions(body, lambda index: index == 1)
        other.checklist = lambda body: decisions(body, lambda index: True)
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

    def let_audit(self, model: ModelEndpoint, samples: int = 1) -> JudgingRound:
        (started,) = start_model_audit(plan_model_audit(self.audit, model, samples), by=None)
        for pk in started.judgings.values_list("pk", flat=True):
            work_on(pk)
        return started


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv("STUB_API_KEY", "none")
    with serving(StubModel()) as scoring, serving(StubModel()) as other:
        yield Desk(scoring, other)


def test_model_has_its_own_row_of_table_6_and_people_theirs(desk: Desk):
    sealed = desk.audit.packets.get().sealed["answers"]
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
    assert float(model["model"]["cost"]) == float(model["model"]["estimated_cost"]) == 6
    assert {key: report[key] for key in before if key != "table6"} == {
        key: before[key] for key in before if key != "table6"
    }
    assert set(started.judgings.values_list("purpose", "scoring")) == {("audit", ""), ("audit", "strict")}


def test_scoring_model_is_asked_anew_when_it_audits_itself(desk: Desk):
    asked = desk.scoring.asked["checklist"]

    desk.let_audit(desk.judge)

    assert desk.scoring.asked["checklist"] == asked + 1
    row = summarize([desk.audit]).sources[1]
    assert row.model is not None and row.model.judges_itself
    assert row.checklist.rate.count == 0


def test_model_audit_that_is_not_finished_says_so_and_changes_no_score(desk: Desk):
    before = read_scores(desk.pilot)

    start_model_audit(plan_model_audit(desk.audit, desk.model_of(desk.other)), by=None)

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
    assert (document["sessions"], document["calls"], float(document["cost"])) == (1, 4, 4)
    assert not Judging.objects.filter(purpose="audit").exists()


def test_only_audits_of_sessions_are_open_to_models(desk: Desk):
    single = open_audit(desk.pilot, by=None, overlap=1)

    with pytest.raises(RejudgingError, match="whole sessions"):
        plan_model_audit(AuditCampaign.objects.get(pk=single.pk), desk.judge)


def test_page_tells_the_cost_and_starts_the_audit(desk: Desk):
    model = desk.model_of(desk.other)
    client = client_of(make_person(desk.pilot.benchmark, "owner"))
    url = f"/audits/{desk.audit.pk}/model/"
    assert url in client.get(f"/audits/{desk.audit.pk}/").content.decode()

    told = client.get(f"{url}?model={model.pk}&samples=2").content.decode()
    started = client.post(url, {"model": model.pk, "samples": "2"})

    assert "for about 4 calls" in " ".join(told.split())
    assert started.headers["Location"] == f"/audits/{desk.audit.pk}/"
    assert JudgingRound.objects.get(purpose="audit").samples == 2
    assert "asked 2×" in client.get(f"/audits/{desk.audit.pk}/").content.decode()


def test_regression_set_says_how_each_judge_does_on_what_people_decided(desk: Desk):
    sealed = desk.audit.packets.get().sealed["answers"]
    decided = sealed | {"item-2": "yes"}
    record_judgment(desk.audit.packets.get(), auditor=desk.auditor, answer="answered", answers=decided, number=1)
    desk.let_audit(desk.model_of(desk.other), samples=2)
    out = StringIO()

    call_command("judge_regression", "--benchmark", desk.pilot.benchmark.slug, "--json", stdout=out)

    document = json.loads(out.getvalue())
    assert [(case["key"], case["people"], case["judge_erred"]) for case in document["cases"]] == [
        ("intent-1", "completed", False), ("item-1", "yes", False), ("item-2", "yes", True),
    ]  # fmt: skip
    first, other = document["judges"]
    assert (first["purpose"], first["n"], first["false_fail"], first["on_errors"]) == ("scoring", 3, 1, 0.0)
    assert first["accuracy"] == pytest.approx(2 / 3)
    assert (other["purpose"], other["accuracy"], other["false_pass"], other["on_errors"]) == ("audit", 1.0, 0, 1.0)
    assert (other["flips"], other["repeated"] > 0, first["repeated"]) == (0, True, 0)
