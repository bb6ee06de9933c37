"""Single decisions are asked given what their judge was shown, and some again in truth, with the whole session."""

from __future__ import annotations

import html

import pytest
from django.test import Client

from annotations.adjudication import adjudicable_packets, adjudicate
from annotations.figures import campaign_figures
from annotations.judgments import undo_last
from annotations.leases import next_packet
from annotations.models import AuditCampaign
from annotations.reports import list_disagreements
from annotations.visibility import pending_packets
from evaluation.audits.corrections import overturned_questions
from evaluation.audits.opening import plan_audit
from evaluation.models import Session, ToolCall
from studio.domain.options import OptionsError
from studio.models import User
from tests.annotations.builders import audit_options, judged, make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import judged_pilot

pytestmark = pytest.mark.django_db


def audit_twice(protocol: str = "release", overlap: int = 1) -> tuple[AuditCampaign, User]:
    """By as many people as ``overlap`` says, of whom one is returned."""
    pilot = judged_pilot(protocol=protocol)
    first = Session.objects.get(run__pilot=pilot).turns.get(number=1)
    ToolCall.objects.create(
        turn=first, position=1, name="gmail__send_email", arguments={"to": "ana@example.org"}, result="sent", ok=True,
        effects=[{"app": "gmail"}],
    )  # fmt: skip
    ana, *_ = [make_person(pilot.benchmark, "auditor") for _ in range(overlap)]
    return open_audit(pilot, own_tasks=True, second=100, overlap=overlap), ana


@pytest.mark.slow
def test_the_whole_session_opens_once_the_first_answer_is_given_which_then_stays():
    campaign, ana = audit_twice()
    client = Client()
    client.force_login(ana)
    while not (packet := next_packet(campaign, ana)).truth:
        assert "ana@example.org" not in str(packet.content)
        assert client.get(f"/audits/{campaign.pk}/judge/{packet.second.position}/").status_code == 302
        record_judgment(packet, auditor=ana, answer="no")
    second = packet

    assert campaign.packets.filter(first=None).count() == ana.judgments.count()
    assert judged(second) == judged(second.first)
    page = client.get(f"/audits/{campaign.pk}/judge/{second.position}/").content.decode()
    assert "ana@example.org" in page and "In truth, knowing the whole session" in page
    assert 'value="not_shown"' not in page
    with pytest.raises(OptionsError, match="seen the whole session since"):
        undo_last(campaign, ana)


@pytest.mark.slow
def test_two_rates_are_reported_apart_and_people_know_best_in_truth():
    campaign, ana = audit_twice()
    while packet := next_packet(campaign, ana):
        agrees = judged(packet)["decision"]
        other = "no" if agrees == "yes" else "yes"
        record_judgment(packet, auditor=ana, answer=other if packet.truth else agrees)

    figures = campaign_figures(campaign)

    decisions = campaign.packets.filter(first=None).count()
    assert (figures["question"], figures["packets"]) == ("given what judges were shown", decisions)
    assert (figures["disagreement"]["all"]["count"], figures["in_truth"]["count"]) == (0, decisions)
    assert len(overturned_questions(campaign)) == decisions


@pytest.mark.parametrize("protocol", ["release", "paper"])
def test_a_packet_says_by_turn_what_it_leaves_out_and_what_judges_of_its_protocol_saw(protocol: str):
    campaign, _ = audit_twice(protocol)

    contents = {packet.kind: packet.content for packet in campaign.packets.filter(first=None, kind="checklist")}

    content = contents["checklist"]
    if protocol == "release":
        assert content["left_out"][0].startswith("Turn 1: 1 file written, none shown (missing: note.md)")
        assert "1 call that changed or sent something, not shown (gmail__send_email)" in content["left_out"][0]
        assert "the last reply, and the tool fields and files chosen" in content["guide"]
    else:
        assert content["left_out"] == []
        assert "the conversation so far, the files as they were then" in content["guide"]
        assert "ana@example.org" in str(content["parts"])


def test_the_outline_tells_how_well_the_second_rate_will_be_known():
    campaign, _ = audit_twice()
    pilot = Session.objects.get().run.pilot

    plan = plan_audit(pilot.benchmark, audit_options(pilot, second=50, own_tasks=True), by=None)

    assert len(plan.second) == -(-len(plan.decisions) // 2)
    assert {row.weight for row in plan.second} != {1.0} or len(plan.decisions) == len(plan.second)
    assert campaign.protocol == "release"


def test_who_has_seen_a_whole_session_answers_nothing_more_without_it():
    campaign, ana = audit_twice()
    make_person(campaign.benchmark, "auditor")
    while not (packet := next_packet(campaign, ana)).truth:
        record_judgment(packet, auditor=ana, answer="no")
    freed = campaign.packets.filter(first=None).exclude(pk=packet.first_id).first()
    freed.judgments.all().delete()
    freed.seats.update(auditor=None, judged=False, leased_until=None, full_session=False)

    offered = pending_packets(campaign, ana)

    assert packet.pk in offered and freed.pk not in offered


@pytest.mark.slow
def test_nothing_is_adjudicated_in_truth_before_what_judges_were_shown_of_its_session():
    campaign, ana = audit_twice(overlap=2)
    ben = User.objects.exclude(pk=ana.pk).get(memberships__benchmark=campaign.benchmark, memberships__role="auditor")
    first = campaign.packets.filter(first=None, kind="checklist").first()
    for person, answer in ((ana, "yes"), (ben, "no")):
        while packet := next_packet(campaign, person):
            opposite = "no" if judged(packet)["decision"] == "yes" else "yes"
            record_judgment(packet, auditor=person, answer=answer if packet in (first, first.second) else opposite)
    owner = make_person(campaign.benchmark, "owner")
    decide = {"by": owner, "answers": {"decision": "yes"}, "reason": "Because."}

    assert adjudicable_packets(owner) == {campaign: [first.position]}
    with pytest.raises(OptionsError, match="Decide first"):
        adjudicate(first.second, **decide)
    client = Client()
    client.force_login(owner)
    assert client.get(f"/audits/{campaign.pk}/adjudicate/{first.second.position}/").status_code == 403
    assert "waits for what the judge was shown" in client.get(f"/audits/{campaign.pk}/").content.decode()

    adjudicate(first, **decide)

    assert adjudicable_packets(owner) == {campaign: [first.second.position]}
    adjudicate(first.second, **decide)


@pytest.mark.slow
def test_what_is_found_in_truth_is_not_told_while_the_first_answer_is_still_to_be_adjudicated():
    campaign, ana = audit_twice(overlap=2)
    ben = User.objects.exclude(pk=ana.pk).get(memberships__benchmark=campaign.benchmark, memberships__role="auditor")
    first = campaign.packets.filter(first=None, kind="checklist").first()
    opposite = {"yes": "no", "no": "yes"}
    for person, answer in ((ana, "yes"), (ben, "no")):
        while packet := next_packet(campaign, person):
            other = opposite[judged(packet)["decision"]]
            record_judgment(packet, auditor=person, answer=answer if packet == first else other)

    listed = {row.packet for row in list_disagreements(campaign)}

    assert first.second not in listed
    assert any(packet.truth for packet in listed)
    adjudicate(first, by=make_person(campaign.benchmark, "owner"), answers={"decision": "yes"}, reason="Because.")
    assert first.second in {row.packet for row in list_disagreements(campaign)}


def test_whoever_judges_reads_what_the_answers_mean_and_what_the_judge_saw():
    campaign, ana = audit_twice()
    client = Client()
    client.force_login(ana)

    page = client.get(f"/audits/{campaign.pk}/judge/", follow=True).content.decode()

    assert next_packet(campaign, ana).content["guide"].startswith("Yes only")
    assert html.escape(next_packet(campaign, ana).content["guide"]) in page


@pytest.mark.slow
def test_answers_of_somebody_who_had_seen_the_whole_session_are_shown_apart():
    pilot = judged_pilot(protocol="paper")
    ana = make_person(pilot.benchmark, "auditor")
    whole = open_audit(pilot, own_tasks=True, unit="session")
    record_judgment(whole.packets.get(), auditor=ana, answers=judged(whole.packets.get()))
    campaign = open_audit(pilot, own_tasks=True)
    while packet := next_packet(campaign, ana):
        record_judgment(packet, auditor=ana, answer="no")

    looked = campaign_figures(campaign)

    assert looked["after_looking"]["n"] == looked["disagreement"]["all"]["n"] == campaign.packets.count()
    assert campaign_figures(whole)["after_looking"]["n"] == 0
    client = Client()
    client.force_login(make_person(pilot.benchmark, "owner"))
    assert "somebody had seen the whole session before" in client.get(campaign.get_absolute_url()).content.decode()
