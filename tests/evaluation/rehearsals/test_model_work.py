from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from evaluation.models import ModelEndpoint, Rehearsal
from evaluation.rehearsals import lifecycle
from evaluation.rehearsals.transcript import load_transcript
from evaluation.rehearsals.work import LEASE_EXPIRED, cancel_model_work, stop_if_lease_expired, work_on
from tests.evaluation.builders import endpoint
from tests.evaluation.rehearsals.builders import after_reply, real, reloaded, started, statuses
from tests.evaluation.stub_model import decisions

pytestmark = pytest.mark.django_db


def test_reply_is_preserved_when_the_judge_fails(stub):
    stub.satisfaction = lambda body: (400, "no such model")
    row = started("agent", real(stub))

    stopped = after_reply(row, "The fee is 70.")

    assert stopped.state == "stopped"
    assert stopped.reason
    assert load_transcript(stopped).current.reply_text == "The fee is 70."  # type: ignore[union-attr]  # not None here
    assert statuses(row) == ["open", "open", "open"]

    stub.satisfaction = lambda body: decisions(body, lambda index: index == 1)
    assert after_reply(row, "The fee is 70.").state == "yours"


def test_user_can_decide_manually_when_the_judge_fails(stub):
    stub.satisfaction = lambda body: (400, "no")
    row = started("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row.pk)

    assert reloaded(row).state == "yours"
    assert "400" in reloaded(row).reason or reloaded(row).reason
    asked = stub.asked["agent"]

    stub.satisfaction = lambda body: decisions(body, lambda index: True)
    lifecycle.propose_again(row.pk)
    work_on(row.pk)

    assert stub.asked["agent"] == asked
    assert load_transcript(reloaded(row)).intents[2].proposal.choice == "met"  # type: ignore[union-attr]  # not None here


def test_message_is_preserved_and_can_be_changed_when_the_agent_fails(stub):
    row = started("user", None, real(stub))
    work_on(row.pk)
    stub.agent = lambda body: (400, "no")
    lifecycle.submit_decisions(row.pk, {1: "met"}, {}, "Go on.")
    work_on(row.pk)

    assert (reloaded(row).state, reloaded(row).message) == ("stopped", "Go on.")

    stub.agent = lambda body: "Better."
    lifecycle.retry_agent(row.pk, "Please go on.")
    work_on(row.pk)

    assert (reloaded(row).state, reloaded(row).message) == ("yours", "Please go on.")


def test_recorded_answers_are_not_paid_for_twice(stub):
    stub.follow_up = lambda body: (400, "no")
    row = started("agent", real(stub))
    after_reply(row, "The fee is 70.")
    stub.follow_up = lambda body: decisions(body, lambda index: False)

    after_reply(row, "The fee is 70.")

    assert stub.asked["satisfaction"] == 1
    assert row.calls.filter(purpose="satisfaction").count() == 1


def test_scripted_model_behind_any_address_marks_the_rehearsal(scripted):
    assert started("agent", endpoint("scripted-user")).scripted
    hidden = ModelEndpoint.objects.create(name="hidden", base_url=scripted.url, model="scripted-helpful")
    row = started("user", None, hidden)
    assert not row.scripted

    work_on(row.pk)

    assert reloaded(row).scripted


def test_work_of_a_dead_process_is_stopped_and_can_be_retried(stub):
    row = started("user", None, real(stub))
    Rehearsal.objects.update(claimed_by="gone", lease_until=timezone.now() - timedelta(seconds=1))

    stop_if_lease_expired(row)
    assert (reloaded(row).state, reloaded(row).reason) == ("stopped", LEASE_EXPIRED)

    lifecycle.retry_agent(row.pk)
    work_on(row.pk)
    assert reloaded(row).state == "yours"


def test_cancelled_model_work_is_not_stored(stub):
    row = started("user", None, real(stub))

    def answer(body: dict[str, Any]) -> str:
        return "Too late."

    stub.agent = answer
    cancel_model_work(row)
    work_on(row.pk)

    assert reloaded(row).state == "stopped"
    assert stub.asked == {}
