"""Control items: gold and planted ones check the auditors and are in no figure of judges."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from annotations.adjudication import adjudicate
from annotations.campaigns import close_campaign
from annotations.controls import control_rates, control_rates_by_auditor
from annotations.exports import export_csv, plan_document
from annotations.figures import campaign_figures
from annotations.gold import draw_gold
from annotations.models import AuditCampaign, Consensus
from annotations.reports import list_disagreements, list_undecided
from annotations.results import break_down
from annotations.seals import sealed_to
from studio.models import User
from tests.annotations.builders import (
    decided,
    make_benchmark,
    make_decision,
    make_person,
    make_session,
    open_campaign,
    record_judgment,
)

pytestmark = pytest.mark.django_db

JUDGE = {"intent-1": "inferred", "item-1": "yes"}
OPTIONS = {"name": "x", "source": "pilot:1", "seed": 1, "scripted": False, "by": None}


def decisions_with_controls() -> list:
    gold = replace(make_decision(2, judge=False), source="gold:9", control="gold", known={"decision": "no"})
    planted = replace(
        make_decision(3), source="planted:1", control="planted", known={"decision": "no"}, cluster="planted:1"
    )
    return [make_decision(1), gold, planted]


def audit_with_controls() -> tuple[AuditCampaign, list[User]]:
    """Of one decision, one gold item (no) and one planted (no), each answered by two: the second always says yes."""
    benchmark = make_benchmark()
    people = [make_person(benchmark, "auditor") for _ in range(2)]
    campaign = open_campaign(benchmark, decisions_with_controls(), overlap=2, gold_sources=["pilot:7"], **OPTIONS)
    for person, answers in zip(people, (("yes", "no", "no"), ("yes", "yes", "yes")), strict=True):
        for packet, answer in zip(campaign.packets.all(), answers, strict=True):
            record_judgment(packet, auditor=person, answer=answer, number=1)
    return campaign, people


def test_control_items_are_in_no_figure_consensus_or_download():
    campaign, (ana, _) = audit_with_controls()

    report = campaign_figures(campaign)

    assert (report["packets"], report["judgments"], report["undecided"], report["waiting"]) == (1, 2, 0, 0)
    assert (report["disagreement"]["all"]["n"], [row["questions"] for row in report["agreement"]]) == (1, [1])
    assert Consensus.objects.count() == 1
    assert list_undecided(campaign, ana) == [] == list_disagreements(campaign)
    assert len(export_csv(campaign).splitlines()) == 1 + 2
    plan = plan_document(campaign)
    assert [row["source"] for row in plan["sample"]] == ["verdict:1"]
    assert (plan["controls"], plan["judgments_wanted"]) == ({"gold": 1, "planted": 1}, 6)


def test_how_people_did_on_control_items_is_told_once_the_audit_is_closed():
    campaign, (ana, ben) = audit_with_controls()
    assert campaign_figures(campaign)["controls"] is None
    assert control_rates([campaign]).gold.n == 0

    close_campaign(campaign, by=ana)
    campaign.refresh_from_db()

    rates = control_rates([campaign])
    assert (rates.gold.count, rates.gold.n, rates.missed.count, rates.missed.n) == (1, 2, 1, 2)
    by_auditor = control_rates_by_auditor([campaign])
    assert (by_auditor[ana.pk].missed.count, by_auditor[ben.pk].missed.count) == (0, 1)
    assert campaign_figures(campaign)["controls"]["planted_missed"]["rate"] == 0.5


def test_planted_question_of_a_session_is_left_out_of_its_consensus_and_counts():
    benchmark = make_benchmark()
    people = [make_person(benchmark, "auditor") for _ in range(2)]
    session = replace(make_session(1, {**JUDGE, "item-2": "yes"}), known={"item-2": "no"})
    campaign = open_campaign(benchmark, [session], overlap=2, unit="session", **OPTIONS)

    for person, planted in zip(people, ("no", "yes"), strict=True):
        answers = {**JUDGE, "item-2": planted}
        packet = campaign.packets.get()
        record_judgment(packet, auditor=person, answer="answered", answers=answers, number=1)

    assert decided(packet) == JUDGE
    report = campaign_figures(campaign)
    assert (
        report["undecided"],
        report["disagreement"]["all"]["n"],
        {row["differing_pairs"] for row in report["agreement"]},
    ) == (
        0,
        2,
        {0},
    )
    assert "item-2" not in export_csv(campaign) + json.dumps(plan_document(campaign))
    close_campaign(campaign, by=people[0])
    assert control_rates(AuditCampaign.objects.all()).missed.count == 1


def test_gold_items_are_what_earlier_audits_decided_beyond_doubt_new_to_these_auditors_first():
    benchmark = make_benchmark()
    ana, ben = (make_person(benchmark, "auditor") for _ in range(2))
    earlier = open_campaign(benchmark, [make_decision(n) for n in range(1, 5)], overlap=2, **OPTIONS)
    first, disputed, alike, single = earlier.packets.all()
    for person, given in ((ana, ("yes", "yes", "no", "yes")), (ben, ("yes", "no", "no"))):
        for packet, answer in zip((first, disputed, alike, single), given, strict=False):
            record_judgment(packet, auditor=person, answer=answer, number=1)
    close_campaign(earlier, by=ana)

    items, sources = draw_gold(benchmark, "decision", 5, 1, without=["verdict:1"], auditors=[ana.pk])

    assert [(row.source, row.known, row.control) for row in items] == [(f"gold:{alike.pk}", {"decision": "no"}, "gold")]
    assert sources == {"pilot:1"}
    assert items[0].content.model_dump(mode="json") == alike.content


def test_gold_item_that_all_were_unsure_of_has_the_answer_of_its_adjudicator():
    benchmark = make_benchmark()
    ana, ben, cem = (make_person(benchmark, "auditor") for _ in range(3))
    earlier = open_campaign(benchmark, [make_decision(1)], overlap=2, auditors=[ana, ben], **OPTIONS)
    packet = earlier.packets.get()
    for person in (ana, ben):
        record_judgment(packet, auditor=person, answer="unsure", number=1)
    adjudicate(packet, by=cem, answers={"decision": "yes"}, reason="It is in the file.")
    close_campaign(earlier, by=ana)

    items, _ = draw_gold(benchmark, "decision", 5, 1, without=[], auditors=[cem.pk])

    assert [row.known for row in items] == [{"decision": "yes"}]


def test_auditors_are_blind_to_what_gold_items_came_from_too():
    benchmark = make_benchmark()
    ana = make_person(benchmark, "auditor")
    campaign = open_campaign(benchmark, decisions_with_controls(), overlap=1, gold_sources=["pilot:7"], **OPTIONS)

    assert sealed_to(ana) == {f"audit:{campaign.pk}", "pilot:1", "pilot:7"}


def test_disagreement_is_broken_down_by_what_packets_have_in_common():
    benchmark = make_benchmark()
    ana = make_person(benchmark, "auditor")
    labels = [("ana", "swift"), ("ben", "swift"), ("ben", "slow")]
    sessions = [
        replace(
            make_session(number, JUDGE),
            labels={"persona": persona, "model": model, "judge": "j"}
            | {"prompts_checklist": "checklist 2", "prompts_intents": "follow-up 1"},
        )
        for number, (persona, model) in enumerate(labels, start=1)
    ]
    campaign = open_campaign(benchmark, sessions, overlap=1, unit="session", **OPTIONS)
    for packet, item in zip(campaign.packets.all(), ("yes", "no", "yes"), strict=True):
        answers = {**JUDGE, "item-1": item}
        record_judgment(packet, auditor=ana, answer="answered", answers=answers, number=1)

    found = {row.dimension: {each.value: each for each in row.rows} for row in break_down([campaign])}

    assert set(found) == {"persona", "grader", "model", "judge", "prompts"}
    ben = found["persona"]["ben"]
    assert (ben.checklist.rate.count, ben.checklist.rate.n, ben.intents.rate.n, ben.total.rate.n) == (1, 2, 2, 4)
    confusion = ben.errors.confusion
    assert (confusion.too_lenient, confusion.people_no, confusion.too_strict, ben.errors.false_yes.n) == (1, 1, 0, 1)
    assert campaign_figures(campaign)["breakdowns"]["persona"][1]["errors"]["confusion"]["judge_yes_people_no"] == 1
    assert {value: row.total.rate.n for value, row in found["grader"].items()} == {"rubric": 3, "intents": 3}
    assert {value: (row.checklist.rate.n, row.intents.rate.n) for value, row in found["prompts"].items()} == {
        "checklist 2": (3, 0), "follow-up 1": (0, 3),
    }  # fmt: skip
    assert campaign_figures(campaign)["breakdowns"]["model"][0]["value"] == "slow"
