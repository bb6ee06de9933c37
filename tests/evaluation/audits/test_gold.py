"""Items whose known answers somebody types before an audit."""

from __future__ import annotations

import pytest
from django.test import Client

from annotations.gold import type_answers
from annotations.leases import next_packet
from annotations.models import GoldItem, Packet
from evaluation.audits.campaigns import source_of
from evaluation.audits.known import draw_gold_item
from evaluation.models import Pilot
from studio.domain.options import OptionsError
from studio.models import User
from tests.annotations.builders import make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import RIGHT, judged_pilot

pytestmark = pytest.mark.django_db


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def two_pilots() -> tuple[Pilot, Pilot]:
    first = judged_pilot()
    return first, judged_pilot(first.benchmark)


@pytest.mark.slow
def test_planner_types_known_answers_in_the_browser_and_the_next_audit_asks_them():
    earlier, pilot = two_pilots()
    planner = make_person(pilot.benchmark, "owner", "auditor")
    ana = make_person(pilot.benchmark, "auditor")
    client = client_of(planner)
    listing = f"/audits/known/{pilot.benchmark.slug}/"

    page = client.post(listing, {"pilot": earlier.pk, "unit": "session"}, follow=True)
    item = GoldItem.objects.get()
    shown = page.content.decode()
    assert "Signed by ▮▮▮." in shown and "walrus reason" not in shown
    empty = client.post(f"/audits/known/item/{item.pk}/", {"answers.item-1": ""})
    assert "Give the known answer to at least one question" in empty.content.decode()
    client.post(f"/audits/known/item/{item.pk}/", {"answers.item-1": "no", "answers.intent-1": "completed"})
    assert "2 known answers" in client.get(listing).content.decode()

    campaign = open_audit(pilot, by=planner, unit="session", gold=30, own_tasks=True)
    gold = campaign.packets.get(control=Packet.Control.GOLD)
    assert gold.known == {"item-1": "no", "intent-1": "completed"}
    assert campaign.controls["sources"] == [source_of(earlier)]
    assert campaign.packets.filter(control="").count() == 1
    positions = set()
    while packet := next_packet(campaign, ana):
        positions.add(packet.position)
        record_judgment(packet, auditor=ana, answer="answered", answers=RIGHT, number=1)
    assert positions == {1, 2}
    assert gold.involved == [planner.pk]


def test_nobody_is_asked_what_they_typed():
    earlier, pilot = two_pilots()
    planner, other = (make_person(pilot.benchmark, "owner", "auditor") for _ in range(2))
    item = draw_gold_item(earlier, "session", by=other)
    type_answers(item, {"item-1": "yes"}, by=planner)

    campaign = open_audit(pilot, by=None, unit="session", gold=30)

    assert planner.pk in campaign.packets.get(control="gold").involved
    with pytest.raises(OptionsError, match="nobody has typed"):  # of two auditors only one could judge it
        open_audit(pilot, by=None, unit="session", gold=30, overlap=2)


@pytest.mark.slow
def test_single_decision_is_drawn_and_typed_once():
    pilot, _ = two_pilots()
    planner = make_person(pilot.benchmark, "owner")
    items = [draw_gold_item(pilot, "decision", by=planner) for _ in range(2)]

    type_answers(items[0], {"decision": "no"}, by=planner)

    assert items[0].source != items[1].source
    assert items[0].known == {"decision": "no"}
    with pytest.raises(OptionsError):
        type_answers(items[1], {"decision": "unsure"}, by=planner)


@pytest.mark.slow
def test_items_are_closed_to_planners_who_judge_their_pilot_blind_and_to_others():
    pilot, _ = two_pilots()
    planner = make_person(pilot.benchmark, "owner", "auditor")
    item = draw_gold_item(pilot, "session", by=make_person(pilot.benchmark, "owner"))
    open_audit(pilot, by=None, unit="session", own_tasks=True, auditors=[planner])

    assert client_of(planner).get(f"/audits/known/item/{item.pk}/").status_code == 403
    assert f"/item/{item.pk}/" not in client_of(planner).get(f"/audits/known/{pilot.benchmark.slug}/").content.decode()
    assert client_of(make_person(pilot.benchmark, "auditor")).get(f"/audits/known/item/{item.pk}/").status_code == 403
    assert client_of(make_person()).get(f"/audits/known/item/{item.pk}/").status_code == 404


def test_item_is_removed_by_its_page_and_audits_keep_it():
    earlier, pilot = two_pilots()
    owner = make_person(pilot.benchmark, "owner")
    make_person(pilot.benchmark, "auditor")
    item = draw_gold_item(earlier, "session", by=owner)
    type_answers(item, {"item-1": "yes"}, by=owner)
    campaign = open_audit(pilot, by=None, unit="session", gold=30, own_tasks=True)

    client_of(owner).post(f"/audits/known/item/{item.pk}/", {"remove": "1"})

    assert not GoldItem.objects.exists()
    assert campaign.packets.get(control="gold").known == {"item-1": "yes"}


@pytest.mark.slow
def test_known_answers_are_drawn_typed_listed_and_removed_by_the_api():
    earlier, pilot = two_pilots()
    owner, ana = make_person(pilot.benchmark, "owner"), make_person(pilot.benchmark, "auditor")
    client = client_of(owner)
    listing = f"/api/benchmarks/{pilot.benchmark.slug}/known-answers/"

    drawn = client.post(listing, {"pilot": earlier.pk}, content_type="application/json")
    item = f"/api/known-answers/{drawn.json()['id']}/"
    refused = [
        client.put(item, {"answers": answers}, content_type="application/json")
        for answers in ({}, {"item-1": "unsure"})
    ]
    typed = client.put(item, {"answers": {"item-1": "no"}}, content_type="application/json")

    assert drawn.status_code == 201
    assert "walrus reason" not in drawn.content.decode()
    assert [list(row.json()["errors"]) for row in refused] == [["answers"], ["answers.item-1"]]
    assert (typed.status_code, typed.json()["known"]) == (200, {"item-1": "no"})
    assert [row["known"] for row in client.get(listing).json()["items"]] == [{"item-1": "no"}]
    assert client_of(ana).get(item).status_code == 403
    assert client.post(listing, {"pilot": 0}, content_type="application/json").json()["errors"].keys() == {"pilot"}
    campaign = open_audit(pilot, by=None, unit="session", gold=30, own_tasks=True)
    assert campaign.packets.get(control="gold").known == {"item-1": "no"}
    assert client.delete(item).status_code == 204
    assert client.get(listing).json() == {"items": []}
