from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evaluation.engine.store import Replied
from evaluation.models import ModelEndpoint, Session
from evaluation.pilots.queue import due_in_pilots, due_in_rehearsals
from evaluation.protocol.session import Progress
from evaluation.rehearsals import lifecycle
from evaluation.store.rows import RowStore
from evaluation.tasks import dispatch
from tests.evaluation.builders import benchmark_of, endpoint, pilot_of, task
from tests.evaluation.rehearsals.builders import after_reply, real, reloaded, shown, started, statuses, work_on
from tests.evaluation.stub_model import decisions

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_reply_is_preserved_when_the_judge_fails(stub):
    stub.satisfaction = lambda body: (400, "no such model")
    row = started("agent", real(stub))

    stopped = after_reply(row, "The fee is 70.")

    assert stopped.state == "stopped"
    assert stopped.session.reason
    current = shown(row).current
    assert current and current.turn.reply == "The fee is 70."
    assert statuses(row) == ["open", "open", "open"]

    stub.satisfaction = lambda body: decisions(body, lambda index: index == 1)
    assert after_reply(row, "The fee is 70.").state == "yours"


def test_user_can_decide_manually_when_the_judge_fails(stub):
    stub.satisfaction = lambda body: (400, "no")
    row = started("user", real(stub, "judge"), real(stub, "agent"))
    work_on(row)

    assert reloaded(row).state == "yours"
    assert reloaded(row).session.reason
    asked = stub.asked["agent"]

    stub.satisfaction = lambda body: decisions(body, lambda index: True)
    lifecycle.propose_again(row.pk)
    work_on(row)

    assert stub.asked["agent"] == asked
    assert shown(row).proposed[3].choice == "met"


def test_message_is_preserved_and_can_be_changed_when_the_agent_fails(stub):
    row = started("user", None, real(stub))
    work_on(row)
    stub.agent = lambda body: (400, "no")
    lifecycle.submit_decisions(row.pk, {1: "met"}, {}, "Go on.")
    work_on(row)

    assert (reloaded(row).state, shown(row).message) == ("stopped", "Go on.")

    stub.agent = lambda body: "Better."
    lifecycle.retry_agent(row.pk, "Please go on.")
    work_on(row)

    assert (reloaded(row).state, shown(row).message) == ("yours", "Please go on.")
    assert stub.bodies[-1]["messages"][-1]["content"] == "Please go on."


def test_recorded_answers_are_not_paid_for_twice(stub):
    stub.follow_up = lambda body: (400, "no")
    row = started("agent", real(stub))
    after_reply(row, "The fee is 70.")
    stub.follow_up = lambda body: decisions(body, lambda index: False)

    after_reply(row, "The fee is 70.")

    assert stub.asked["satisfaction"] == 1
    assert row.session.model_calls.filter(purpose="satisfaction").count() == 1


def test_scripted_model_behind_any_address_marks_the_rehearsal(scripted):
    assert started("agent", endpoint("scripted-user")).scripted
    hidden = ModelEndpoint.objects.create(name="hidden", base_url=scripted.url, model="scripted-helpful")
    row = started("user", None, hidden)
    assert not row.scripted

    work_on(row)

    assert reloaded(row).scripted


def test_another_worker_goes_on_with_the_work_of_one_that_was_killed(stub, monkeypatch):
    def killed(*_: object) -> None:
        raise SystemExit

    row = started("user", real(stub, "judge"), real(stub, "agent"))
    with monkeypatch.context() as patched:
        patched.setattr(RowStore, "propose", killed)
        with pytest.raises(SystemExit):
            work_on(row)
    Session.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    current = shown(row).current
    assert current and current.turn.reply == "Done."
    assert reloaded(row).state == "working" and list(due_in_rehearsals()) == [row.session]

    work_on(row)

    assert (reloaded(row).state, stub.asked["agent"], stub.asked["satisfaction"]) == ("yours", 1, 1)
    assert [each.choice for each in shown(row).proposed.values()] == ["neither"] * 3


def test_a_pilots_sessions_and_a_rehearsals_are_sent_to_workers_apart(stub):
    pilot = pilot_of(benchmark_of(task("b")))
    row = started("user", None, real(stub))

    assert list(due_in_rehearsals()) == [row.session]
    assert [session.run.pilot for session in due_in_pilots()] == [pilot]


def test_cancelled_model_work_is_not_stored(stub):
    row = started("user", None, real(stub))

    lifecycle.cancel_model_work(row.pk)
    work_on(row)

    assert (reloaded(row).state, reloaded(row).session.reason) == ("stopped", lifecycle.CANCELLED)
    assert stub.asked == {}


def test_an_answer_that_comes_after_the_cancelling_is_kept_for_the_next_try_alone(stub, monkeypatch):
    def too_late(store: RowStore, progress: Progress, replied: Replied) -> None:
        lifecycle.cancel_model_work(row.pk)
        keep(store, progress, replied)

    row, keep = started("user", None, real(stub)), RowStore.reply
    with monkeypatch.context() as patched:
        patched.setattr(RowStore, "reply", too_late)
        work_on(row)
    assert (reloaded(row).state, shown(row).current) == ("stopped", None)

    lifecycle.retry_agent(row.pk)
    work_on(row)

    assert (reloaded(row).state, stub.asked["agent"]) == ("yours", 1)


def test_a_rehearsal_is_sent_to_workers_that_pilots_keep_busy(stub, settings):
    settings.WORKER_SESSIONS = 1
    pilot_of(benchmark_of(task("b")))
    Session.objects.update(queued_at=timezone.now())
    row = started("user", None, real(stub))

    dispatch()

    assert reloaded(row).session.queued_at


def test_what_was_answered_already_is_not_said_otherwise_afterwards(stub):
    row = started("user", None, real(stub))
    work_on(row)
    lifecycle.submit_decisions(row.pk, {1: "met"}, {}, "Go on.")
    work_on(row)

    lifecycle.retry_agent(row.pk, "Something else.")

    assert shown(row).message == "Go on."
