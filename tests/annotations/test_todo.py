"""Audits on an auditor's Home."""

import pytest
from django.test import Client

from annotations.campaigns import close_campaign
from annotations.judgments import next_number
from annotations.leases import next_packet
from studio.models import Notification
from studio.reports.todo import todo_of
from tests.annotations.builders import make_benchmark, make_campaign, make_person, record_judgment

pytestmark = pytest.mark.django_db


def listed_audits(user):
    groups = todo_of(user)
    return [(item.title, item.note, item.state) for group in groups if group.key == "audits" for item in group.items]


def judge(campaign, person):
    packet = next_packet(campaign, person)
    record_judgment(packet, auditor=person, answer="yes", number=next_number(packet, person))


def test_audit_is_listed_until_the_last_answer():
    campaign, (auditor,) = make_campaign(size=2)

    assert listed_audits(auditor) == [("spring audit", "2 to judge", "waiting")]
    judge(campaign, auditor)
    assert listed_audits(auditor) == [("spring audit", "1 to judge", "running")]
    judge(campaign, auditor)
    assert listed_audits(auditor) == []


def test_only_open_audits_of_assigned_auditors_are_listed():
    benchmark = make_benchmark()
    viewer, stranger = make_person(benchmark, "viewer"), make_person(make_benchmark(), "auditor")
    campaign, (auditor,) = make_campaign(benchmark)

    assert (listed_audits(viewer), listed_audits(stranger)) == ([], [])
    close_campaign(campaign, by=auditor)
    assert listed_audits(auditor) == []


def test_home_links_to_the_next_question():
    campaign, (auditor,) = make_campaign()
    client = Client()
    client.force_login(auditor)

    html = client.get("/").content.decode()

    assert f'href="/audits/{campaign.pk}/judge/"' in html
    assert "3 to judge" in html


def test_number_of_queries_is_constant(django_assert_num_queries, django_assert_max_num_queries):
    benchmark = make_benchmark()
    _, (auditor,) = make_campaign(benchmark)
    with django_assert_max_num_queries(20) as few:
        listed_audits(auditor)
    for _ in range(5):
        make_campaign(benchmark)

    with django_assert_num_queries(len(few)):
        assert len(listed_audits(auditor)) == 6


def listed_adjudications(user):
    groups = todo_of(user)
    return [item.note for group in groups if group.key == "adjudications" for item in group.items]


@pytest.mark.slow
def test_disagreement_waits_on_the_home_and_in_the_inbox_of_who_may_adjudicate():
    campaign, (first, second) = make_campaign(size=2, overlap=2, auditors=2)
    manager, viewer = (make_person(campaign.benchmark, role) for role in ("release_manager", "viewer"))
    packets = list(campaign.packets.order_by("position"))
    for packet in packets:
        record_judgment(packet, auditor=first, answer="yes", number=1)
    assert listed_adjudications(manager) == []

    for packet in packets:
        record_judgment(packet, auditor=second, answer="no", number=1)

    assert listed_adjudications(manager) == ["auditors disagree on 2"]
    assert (listed_adjudications(viewer), listed_adjudications(first)) == ([], [])
    [notice] = Notification.objects.filter(kind="adjudication")
    assert (notice.user, notice.actor, notice.address) == (manager, None, f"/audits/{campaign.pk}/adjudicate/")


@pytest.mark.slow
def test_adjudicator_goes_from_one_decision_to_the_next():
    campaign, (first, second) = make_campaign(size=3, overlap=2, auditors=2)
    for packet in campaign.packets.all():
        record_judgment(packet, auditor=first, answer="yes", number=1)
        record_judgment(packet, auditor=second, answer="no", number=1)
    client, here = Client(), f"/audits/{campaign.pk}/"
    client.force_login(make_person(campaign.benchmark, "owner"))
    decision = {"decision": "yes", "reason": "It says so in the reply."}

    assert client.get(f"{here}adjudicate/").url == f"{here}adjudicate/1/"
    page = client.get(f"{here}adjudicate/2/").content.decode()
    visited = [client.post(f"{here}adjudicate/{position}/", decision).url for position in (2, 3, 1)]

    assert "2 of 3" in page and f"{here}adjudicate/1/" in page and f"{here}adjudicate/3/" in page
    assert visited == [f"{here}adjudicate/3/", f"{here}adjudicate/1/", here]
    assert client.get(f"{here}adjudicate/").url == here
