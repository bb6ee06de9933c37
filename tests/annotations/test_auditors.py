"""How auditors judge, told to themselves and to those who plan audits."""

from __future__ import annotations

import pytest
from django.test import Client

from annotations.adjudication import adjudicate
from annotations.auditors import oversights, own_record, records_in
from annotations.campaigns import close_campaign
from annotations.judgments import open_results
from annotations.models import AuditCampaign
from studio.models import User
from tests.annotations.builders import make_benchmark, make_decision, make_person, open_campaign, record_judgment
from tests.annotations.test_controls import audit_with_controls

pytestmark = pytest.mark.django_db
OPTIONS = {"name": "x", "source": "pilot:1", "seed": 1, "scripted": False, "by": None}


def judged_audit() -> tuple[AuditCampaign, list[User]]:
    """Four decisions, by three people; the third differs once, is unsure once and takes two seconds each."""
    benchmark = make_benchmark()
    people = [make_person(benchmark, "auditor") for _ in range(3)]
    decisions = [make_decision(number) for number in range(1, 5)]
    campaign = open_campaign(benchmark, decisions, overlap=3, **OPTIONS)
    for person, answers in zip(people, ("yynn", "yynn", "ynnu"), strict=True):
        for packet, letter in zip(campaign.packets.all(), answers, strict=True):
            answer = {"y": "yes", "n": "no", "u": "unsure"}[letter]
            record_judgment(packet, auditor=person, answer=answer, number=1, milliseconds=2_000)
    return campaign, people


@pytest.mark.slow
def test_own_agreement_opens_with_the_results_and_the_pace_is_there_at_once():
    campaign, (_, _, ben) = judged_audit()
    before = own_record(ben)
    assert (before.packets, before.seconds, before.an_hour, before.agreement.n) == (4, 2.0, 1800, 0)

    open_results(campaign, ben)

    after = own_record(ben)
    assert (after.agreement.count, after.agreement.n) == (2, 3)
    assert (after.unsure.count, after.unsure.n) == (1, 4)
    assert after.is_thin


@pytest.mark.slow
def test_planner_sees_everybody_by_name_but_nothing_of_what_they_still_judge_blind():
    campaign, people = judged_audit()
    planner = make_person(campaign.benchmark, "owner")
    judging = make_person(campaign.benchmark, "owner", "auditor")

    records = records_in(campaign.benchmark, planner)

    assert [row.auditor for row in records] == sorted(people, key=str)
    assert [row.agreement.count for row in records] == [4, 4, 2]
    assert records_in(campaign.benchmark, judging) == []


@pytest.mark.slow
def test_control_items_are_on_the_own_page_once_the_audit_is_closed():
    campaign, (ana, ben) = audit_with_controls()
    open_results(campaign, ben)
    assert own_record(ben).controls.missed.n == 0

    close_campaign(campaign, by=ana)

    assert (own_record(ben).controls.missed.count, own_record(ana).controls.gold.count) == (1, 1)
    client = Client()
    client.force_login(ben)
    assert "planted wrong verdicts: agreed with" in client.get("/audits/mine/").content.decode()
    assert client.get("/api/audits/mine/").json()["planted_missed"]["rate"] == 1.0


def test_overlooked_evidence_is_shown_to_the_auditor_who_overlooked_it():
    benchmark = make_benchmark()
    ana, ben = (make_person(benchmark, "auditor") for _ in range(2))
    owner = make_person(benchmark, "owner")
    campaign = open_campaign(benchmark, [make_decision(1)], overlap=2, **OPTIONS)
    packet = campaign.packets.get()
    record_judgment(packet, auditor=ana, answer="yes", number=1)
    record_judgment(packet, auditor=ben, answer="no", number=1)
    adjudicate(packet, by=owner, answers={"decision": "yes"}, reason="It is in the last line.", cause="auditor_error")
    assert oversights(ben) == []

    close_campaign(campaign, by=owner)

    (found,) = oversights(ben)
    assert (found.answer, found.final, found.reason) == ("no", "yes", "It is in the last line.")
    assert oversights(ana) == []


@pytest.mark.slow
def test_people_page_says_what_figures_do_not_mean():
    campaign, _ = judged_audit()
    client = Client()
    client.force_login(make_person(campaign.benchmark, "owner"))

    text = client.get(f"/audits/people/{campaign.benchmark.slug}/").content.decode()

    assert "To differ from the others is not to be wrong" in text
    assert text.count("too few to tell") == 3
    assert len(client.get(f"/api/audits/people/?benchmark={campaign.benchmark.slug}").json()) == 3
