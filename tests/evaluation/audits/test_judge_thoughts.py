"""What a judge thought is sealed with its decision, and shown to adjudicators once people have decided."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from annotations.models import AuditCampaign
from tests.annotations.builders import make_person, open_audit, record_judgment
from tests.evaluation.builders import rubric, task
from tests.evaluation.pilots.builders import start, work_through
from tests.evaluation.stub_model import StubModel, decisions

pytestmark = pytest.mark.django_db
MARK = "walrus thought of the judge"
NO = {"status": "provided", "checklist": "no"}


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["decision", "session"])
def test_judges_thought_is_shown_to_adjudicators_after_the_judgment_and_to_nobody_else(
    stub: StubModel, client: Client, monkeypatch: pytest.MonkeyPatch, unit: str
):
    monkeypatch.setenv("STUB_API_KEY", "none")

    def thinking(body: dict[str, Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": decisions(body, lambda index: True), "reasoning_content": MARK}

    stub.satisfaction = stub.follow_up = stub.checklist = thinking
    pilot = work_through(start(stub, task("a", checklist=(rubric("It is signed."),))))
    auditor = make_person(pilot.benchmark, "auditor")
    campaign = open_audit(pilot, by=None, unit=unit, overlap=1, size=1, own_tasks=True, auditors=[auditor])
    packet = campaign.packets.get()
    client.force_login(auditor)
    before = client.get(f"/audits/{campaign.pk}/judge/", follow=True).content.decode()
    assert packet.content["parts"][0]["text"][:20] in before and MARK not in before + json.dumps(packet.content)
    assert MARK in json.dumps(packet.sealed)

    wrong = {question["key"]: NO.get(question["kind"], "no") for question in packet.content["questions"]}
    record_judgment(packet, auditor=auditor, answers=wrong, number=1)

    shown = {role: page_of(campaign, role) for role in ("release_manager", "viewer")}
    assert {role: MARK in page for role, page in shown.items()} == {"release_manager": True, "viewer": False}
    assert MARK not in client.get(f"/api/v1/audits/{campaign.pk}/packets/").content.decode()


def page_of(campaign: AuditCampaign, role: str) -> str:
    client = Client()
    client.force_login(make_person(campaign.benchmark, role))
    page = client.get(f"/audits/{campaign.pk}/").content.decode()
    assert "Disagreements" in page
    return page
