"""Strata of whole sessions, planted questions and gold items when an audit is opened."""

from __future__ import annotations

import pytest

from annotations.campaigns import close_campaign
from annotations.models import AuditCampaign
from evaluation.models import Pilot
from studio.domain.options import OptionsError
from studio.drafts.load import load_task
from studio.models import Task
from tests.annotations.builders import judged, make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import RIGHT, judged_pilot
from tests.factories import a_persona, a_task, a_task_spec, rewrite

pytestmark = pytest.mark.django_db
FOREIGN = "Seventeen zebras crossed every frozen mountain."


@pytest.fixture
def pilot() -> Pilot:
    pilot = judged_pilot()
    make_person(pilot.benchmark, "auditor")
    return pilot


def add_foreign_item(pilot: Pilot) -> None:
    item = a_task_spec().checklist[0].model_copy(update={"criterion": FOREIGN})
    a_task(a_persona(pilot.benchmark, "zookeeper"), user_id="zookeeper", checklist=(item,))


@pytest.mark.parametrize("unit", ["session", "decision"])
def test_planted_question_is_an_item_of_another_task_with_a_verdict_that_it_is_met(pilot: Pilot, unit: str):
    add_foreign_item(pilot)

    campaign = open_audit(pilot, by=None, unit=unit, planted=10, own_tasks=True)

    packet = campaign.packets.exclude(known={}).get()
    (key,) = packet.known
    assert packet.known[key] == "no"
    assert campaign.controls == {"gold": 0, "planted": 1, "sources": []}
    if unit == "session":
        (question,) = [row for row in packet.content["questions"] if row["key"] == key]
        assert (question["subject"], judged(packet)[key], packet.control) == (FOREIGN, "yes", "")
        assert key not in RIGHT
    else:
        assert (packet.content["subject"], judged(packet), packet.control) == (FOREIGN, {key: "yes"}, "planted")


@pytest.mark.slow
def test_place_of_a_planted_question_among_the_items_does_not_tell_it(pilot: Pilot):
    add_foreign_item(pilot)
    places = set()
    for seed in range(8):
        campaign = open_audit(pilot, by=None, unit="session", seed=seed, planted=10, own_tasks=True)
        packet = campaign.packets.exclude(known={}).get()
        items = [row["key"] for row in packet.content["questions"] if row["kind"] == "checklist"]
        places.add(items.index(*packet.known))

    assert places == set(range(len(items)))


def test_same_seed_plants_the_same_again(pilot: Pilot):
    add_foreign_item(pilot)
    found = [
        list(open_audit(pilot, by=None, seed=4, planted=30, own_tasks=True).packets.values_list("source", "content"))
        for _ in range(2)
    ]

    assert found[0] == found[1]


def test_nothing_is_planted_that_the_record_might_hold(pilot: Pilot):
    for task in Task.objects.all():
        items = load_task(task).checklist
        rewrite([task], checklist=[item.model_copy(update={"criterion": "The fee is 70."}) for item in items])

    with pytest.raises(OptionsError, match="Nothing can be planted") as refused:
        open_audit(pilot, by=None, unit="session", planted=10, own_tasks=True)

    assert refused.value.field == "planted"
    assert not AuditCampaign.objects.exists()


def test_gold_items_need_an_earlier_audit_and_come_on_top_of_the_sample(pilot: Pilot):
    with pytest.raises(OptionsError, match="No earlier audit") as refused:
        open_audit(pilot, by=None, unit="session", gold=10, own_tasks=True)
    assert refused.value.field == "gold"
    people = [make_person(pilot.benchmark, "auditor") for _ in range(2)]
    earlier = open_audit(pilot, by=None, unit="session", overlap=2, own_tasks=True)
    for person in people:
        record_judgment(earlier.packets.get(), auditor=person, answer="answered", answers=RIGHT, number=1)
    close_campaign(earlier, by=people[0])
    later = judged_pilot(pilot.benchmark)

    campaign = open_audit(later, by=None, unit="session", gold=10, own_tasks=True)

    assert sorted(campaign.packets.values_list("control", flat=True)) == ["", "gold"]
    assert campaign.packets.get(control="gold").known == RIGHT
    assert campaign.controls["sources"] == [f"pilot:{pilot.pk}"]


@pytest.mark.slow
def test_sessions_are_drawn_by_persona_or_by_where_judges_waver(pilot: Pilot):
    judged_pilot(pilot.benchmark)
    strata = {}
    for name in ("pilot", "model", "persona", "category", "status", "grader", "disagreement"):
        campaign = open_audit(*Pilot.objects.all(), by=None, unit="session", strata=name, own_tasks=True)
        strata[name] = set(campaign.packets.values_list("stratum", flat=True))
        assert campaign.population.rows[0]["stratum"] in strata[name]

    assert len(strata["pilot"]) == 2
    assert strata["model"] == {"model scripted-helpful"}
    assert strata["grader"] == {"graded by rubric"}
    assert len(strata["persona"]) == 1
    assert strata["status"] == {"worst status inferred"}
    assert strata["disagreement"] == {"judges agree"}


@pytest.mark.slow
def test_single_decisions_are_drawn_in_the_same_ways(pilot: Pilot):
    judged_pilot(pilot.benchmark)
    judging = pilot.runs.get().sessions.get().judgings.filter(verdicts__kind="checklist").first()
    first = judging.verdicts.filter(kind="checklist").first()
    judging.pk, judging.sample = None, 2
    judging.save(force_insert=True)
    first.pk, first.judging, first.met = None, judging, not first.met
    first.save(force_insert=True)
    strata = {}
    for name in ("", *AuditCampaign.Strata.values):
        campaign = open_audit(*Pilot.objects.all(), by=None, strata=name, size=4, own_tasks=True)
        strata[name] = sorted(campaign.packets.values_list("stratum", flat=True))
        assert campaign.strata == (name or "answer")

    assert strata[""] == strata["answer"]
    assert [row.split(" · ")[0] for row in strata["pilot"]] == ["pilot 1"] * 2 + ["pilot 2"] * 2
    assert strata["model"] == ["model scripted-helpful"] * 4
    assert strata["status"] == ["checklist · no"] * 3 + ["checklist · yes"]
    assert strata["grader"] == ["graded by rubric"] * 4
    assert strata["disagreement"] == ["judges agree"] * 3 + ["judges differ or waver"]
    assert all(row.startswith("persona ") for row in strata["persona"])
    assert all(row.startswith("category ") for row in strata["category"])


def test_sessions_are_not_drawn_by_an_answer(pilot: Pilot):
    with pytest.raises(OptionsError, match="many answers") as refused:
        open_audit(pilot, by=None, unit="session", strata="answer", own_tasks=True)
    assert refused.value.field == "strata"


def test_session_in_which_a_second_sample_decided_otherwise_wavers(pilot: Pilot):
    judging = pilot.runs.get().sessions.get().judgings.filter(verdicts__kind="checklist").first()
    second = type(judging).objects.get(pk=judging.pk)
    second.pk, second.sample = None, 2
    second.save(force_insert=True)
    first = judging.verdicts.filter(kind="checklist").first()
    first.pk, first.judging, first.met = None, second, not first.met
    first.save(force_insert=True)

    campaign = open_audit(pilot, by=None, unit="session", strata="disagreement", own_tasks=True)

    assert set(campaign.packets.values_list("stratum", flat=True)) == {"judges differ or waver"}
