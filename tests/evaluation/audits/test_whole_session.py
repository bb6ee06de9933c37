"""An auditor may look at the whole session, which is recorded with the answer."""

from __future__ import annotations

import pytest
from django.test import Client

from annotations.exports import answer_rows
from annotations.leases import next_packet
from annotations.models import Judgment
from evaluation.audits.whole import read_whole_session
from evaluation.models import Session, ToolCall
from tests.annotations.builders import make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import judged_pilot

pytestmark = pytest.mark.django_db


def test_whole_session_is_shown_on_request_without_names_and_the_answer_says_so():
    pilot = judged_pilot()
    session = Session.objects.get(run__pilot=pilot)
    turn = session.turns.get(number=1)
    ToolCall.objects.create(
        turn=turn, position=1, name="search", arguments={"unselected": "field"}, result="by scripted-helpful", ok=True
    )
    ana, ben = (make_person(pilot.benchmark, "auditor") for _ in range(2))
    campaign = open_audit(pilot, by=None, unit="decision", own_tasks=True, overlap=2, size=1)
    client = Client()
    client.force_login(ana)
    page = f"/audits/{campaign.pk}/judge/1/"

    assert client.post(f"{page}session/").headers["Location"] == f"/audits/{campaign.pk}/judge/"
    packet = next_packet(campaign, ana)
    assert client.get(f"{page}session/").status_code == 302
    question = client.get(page).content.decode()
    whole = client.post(f"{page}session/", follow=True).content.decode()
    api = client.post(f"/api/audits/{campaign.pk}/packets/1/session/").json()
    next_packet(campaign, ben)
    for person in (ana, ben):
        record_judgment(packet, auditor=person, answer="yes", number=1)

    assert "unselected" not in question
    assert "&quot;unselected&quot;: &quot;field&quot;" in whole
    assert "by ▮▮▮" in whole and "scripted-helpful" not in whole
    assert "Please sign it." in whole
    assert [part["role"] for part in api["parts"]].count("tool") == 1
    assert dict(Judgment.objects.values_list("auditor", "full_session")) == {ana.pk: True, ben.pk: False}
    assert sorted(row[-1] for row in answer_rows(campaign)) == [False, True]
    assert client.post(f"{page}session/").status_code == 302
    assert client.post(f"/api/audits/{campaign.pk}/packets/1/session/").status_code == 409


@pytest.mark.parametrize("source", ["session:0", "verdict:0", "typed:1", "", "session:x"])
def test_session_that_is_gone_is_empty(source: str):
    assert read_whole_session(source) == []
