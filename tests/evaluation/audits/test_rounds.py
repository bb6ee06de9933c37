"""Which judging of a pilot an audit is about, if the pilot was judged again."""

from __future__ import annotations

import pytest
from django.test import Client

from annotations.exports import plan_document
from annotations.models import AuditCampaign
from evaluation.audits.campaigns import source_of
from evaluation.models import JudgingRound, Pilot, ScoringChoice
from evaluation.models.judgings import Purpose
from studio.domain.options import OptionsError
from tests.annotations.builders import judged, make_person, open_audit
from tests.evaluation.audits.test_command import run
from tests.evaluation.audits.test_gate import judge_again
from tests.evaluation.audits.test_sessions import RIGHT, judged_pilot

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot() -> Pilot:
    """Its second round, which scores it, finds the first item not met."""
    pilot = judged_pilot()
    pilot.runs.get().sessions.get().judgings.update(state="finished")
    judge_again(pilot, wrongly=True)
    make_person(pilot.benchmark, "auditor")
    return pilot


@pytest.mark.parametrize(("chosen", "audited", "first_item"), [(None, 2, "no"), (1, 1, "yes"), (2, 2, "no")])
def test_audit_is_about_the_round_that_scores_or_the_one_chosen(pilot: Pilot, chosen, audited, first_item):
    whole = open_audit(pilot, by=None, unit="session", own_tasks=True, round=chosen)
    single = open_audit(pilot, by=None, own_tasks=True, round=chosen)

    assert judged(whole.packets.get()) == RIGHT | {"item-1": first_item}
    decided = {judged(row)["decision"] for row in single.packets.filter(kind="checklist")}
    assert decided == ({"yes", "no"} if audited == 1 else {"no"})
    first = pilot.rounds.get(number=1)
    ScoringChoice.objects.create(pilot=pilot, round=first, rules=pilot.scoring_choices.first().rules)
    for campaign in (whole, single):
        assert plan_document(campaign)["rounds"] == {source_of(pilot): audited}


def test_round_that_is_missing_unfinished_or_an_audit_by_a_model_is_refused(pilot: Pilot):
    first, second = pilot.rounds.all()
    JudgingRound.objects.create(pilot=pilot, number=3, purpose=Purpose.AUDIT, judge=first.judge)
    second.judgings.filter(scoring="strict").update(state="running")

    for number in (2, 3, 4):
        with pytest.raises(OptionsError, match=f"no finished round {number}") as refused:
            open_audit(pilot, by=None, own_tasks=True, round=number)
        assert refused.value.field == "round"


@pytest.mark.slow
def test_form_command_and_api_choose_the_round(pilot: Pilot):
    client = Client()
    client.force_login(make_person(pilot.benchmark, "owner"))
    where = f"/audits/new/?benchmark={pilot.benchmark.slug}"
    field = f"round_{pilot.pk}"
    assert "Which judging of pilot 1" in client.get(where).content.decode()
    form = {"pilots": pilot.pk, "unit": "session", "people": 1, "seed": 1, "own_tasks": "on", field: 1}
    assert client.post(where, form).status_code == 302
    options = {"benchmark": pilot.benchmark.slug, "pilots": [pilot.pk], "people": 1, "own_tasks": True, "round": 1}
    assert client.post("/api/audits/", options, content_type="application/json").status_code == 201
    arguments = ("--benchmark", pilot.benchmark.slug, "--pilot", str(pilot.pk), "--people", "1", "--own-tasks")
    assert run("audit", *arguments, "--round", "1")[0] == 0
    assert run("audit", *arguments, "--round", "7")[0] == 2

    assert [row.rounds for row in AuditCampaign.objects.all()] == [{source_of(pilot): 1}] * 3


def test_form_offers_no_rounds_where_no_pilot_was_judged_again():
    pilot = judged_pilot()
    client = Client()
    client.force_login(make_person(pilot.benchmark, "owner", "auditor"))

    assert "Which judging" not in client.get(f"/audits/new/?benchmark={pilot.benchmark.slug}").content.decode()


@pytest.mark.slow
def test_each_pilot_of_an_audit_may_have_a_judging_of_its_own(pilot: Pilot):
    other = judged_pilot(pilot.benchmark)
    client = Client()
    client.force_login(make_person(pilot.benchmark, "owner"))
    keys = [pilot.pk, other.pk]
    form = {"pilots": keys, "unit": "session", "people": 1, "seed": 1, "own_tasks": "on", f"round_{pilot.pk}": 1}
    options = {"benchmark": pilot.benchmark.slug, "pilots": keys, "people": 1, "own_tasks": True}
    arguments = ["audit", "--benchmark", pilot.benchmark.slug, "--pilot", *map(str, keys), "--people", "1"]

    assert client.post(f"/audits/new/?benchmark={pilot.benchmark.slug}", form).status_code == 302
    asked = options | {"rounds": {str(pilot.pk): 1}}
    assert client.post("/api/audits/", asked, content_type="application/json").status_code == 201
    assert run(*arguments, "--own-tasks", "--round", f"{pilot.pk}=1")[0] == 0
    assert run(*arguments, "--own-tasks", "--round", f"{pilot.pk}=2", f"{other.pk}=1")[0] == 0

    plans = [plan_document(row)["rounds"] for row in AuditCampaign.objects.order_by("pk")]
    first, second = source_of(pilot), source_of(other)
    assert plans == [{first: 1, second: 1}] * 3 + [{first: 2, second: 1}]
    for wrong in ({str(other.pk): 2}, {"999999": 1}, {"x": 1}):
        answer = client.post("/api/audits/", options | {"rounds": wrong}, content_type="application/json")
        assert answer.status_code == 400 and {"round", "rounds"} & answer.json()["errors"].keys()
    for wrong in ([f"{other.pk}=2"], ["999999=1"], ["one"], [f"{pilot.pk}=1", "2"]):
        assert run(*arguments, "--round", *wrong)[0] == 2
