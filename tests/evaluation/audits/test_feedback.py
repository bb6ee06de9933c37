"""What an adjudication names as the cause goes where it helps."""

from __future__ import annotations

import uuid

import pytest

from annotations.adjudication import adjudicate
from annotations.figures import campaign_figures
from annotations.models import Adjudication, Answer, AuditCampaign, Judgment
from evaluation.audits.regression import regression_cases
from evaluation.models import Session
from studio.domain.options import OptionsError
from studio.drafts.load import load_task
from studio.models import Comment, Task, TaskState, User
from tests.annotations.builders import make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import RIGHT, judged_pilot

pytestmark = pytest.mark.django_db


class Dispute:
    """Two auditors differ on the second item of a session."""

    def __init__(self, unit: str = "session") -> None:
        self.pilot = judged_pilot()
        benchmark = self.pilot.benchmark
        self.owner = make_person(benchmark, "owner")
        auditors = [make_person(benchmark, "auditor") for _ in range(2)]
        self.campaign = open_audit(self.pilot, by=None, unit=unit, overlap=2, own_tasks=True)
        self.packet = self.campaign.packets.first()
        if unit == "decision":
            self.packet = next(row for row in self.campaign.packets.all() if row.content["subject"] == "It is signed.")
        for person, answer in zip(auditors, ("yes", "no"), strict=True):
            given = {"answer": answer}
            if unit == "session":
                given = {"answer": "answered", "answers": RIGHT | {"item-2": answer}}
            record_judgment(self.packet, auditor=person, number=1, **given)

    @property
    def task(self) -> Task:
        return Session.objects.get(run__pilot=self.pilot).revision.task

    def decide(self, by: User | None = None, **options: object) -> Adjudication:
        key = "item-2" if self.packet.kind == "session" else "decision"
        return adjudicate(self.packet, by=by or self.owner, answers={key: "no"}, reason="Signed by whom?", **options)


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["session", "decision"])
def test_ambiguous_criterion_becomes_a_comment_on_that_item(unit: str):
    dispute = Dispute(unit)

    dispute.decide(cause="criterion_ambiguous")

    comment = Comment.objects.get()
    assert (comment.task, comment.field, comment.author) == (dispute.task, "checklist", dispute.owner)
    assert comment.item_uid == uuid.UUID(load_task(dispute.task).checklist[1].uid)
    assert comment.text == "In an audit, people read this in different ways. Signed by whom?"


@pytest.mark.slow
def test_cause_may_be_about_one_of_a_sessions_open_questions():
    dispute = Dispute()
    packet = dispute.packet
    row = Judgment.objects.create(packet=packet, auditor=packet.judgments.first().auditor, number=2)
    for key, value in {**RIGHT, "item-2": "yes", "intent-1": "provided"}.items():
        Answer.objects.create(packet=packet, question=key, by="person", judgment=row, number=2, value=value)
    final = {"item-2": "no", "intent-1": "completed"}

    with pytest.raises(OptionsError) as refused:
        adjudicate(packet, by=dispute.owner, reason="x", answers=final, cause="judge_error", about=["item-1"])
    assert refused.value.field == "about"
    adjudicate(packet, by=dispute.owner, reason="x", answers=final, cause="criterion_ambiguous", about=["item-2"])

    assert Comment.objects.get().field == "checklist"
    assert {"intent-1", "item-2"} & {case.key for case in regression_cases(packet.campaign.benchmark)} == {"intent-1"}


@pytest.mark.slow
def test_task_goes_back_to_its_author_if_the_adjudicator_wishes():
    dispute = Dispute()
    Task.objects.filter(pk=dispute.task.pk).update(state=TaskState.IN_REVIEW)

    dispute.decide(cause="evidence_not_visible", request_changes=True)

    assert dispute.task.state == TaskState.CHANGES_REQUESTED
    assert "tool fields and files that judges are shown" in Comment.objects.get().text
    assert campaign_figures(dispute.campaign)["causes"]["adjudicators"] == {"evidence_not_visible": 1}


@pytest.mark.parametrize(
    ("roles", "options", "message"),
    [
        (("auditor",), {"cause": "criterion_ambiguous"}, "may not comment"),
        (("release_manager",), {"cause": "criterion_ambiguous", "request_changes": True}, "may not ask for changes"),
        (("owner",), {"cause": "judge_error", "request_changes": True}, "what the author can fix"),
        (("owner",), {"cause": "bad luck"}, "one of the causes"),
    ],
)
def test_impossible_feedback_is_explained_and_decides_nothing(roles, options, message):
    dispute = Dispute()
    person = make_person(dispute.pilot.benchmark, *roles)

    with pytest.raises(OptionsError, match=message) as refused:
        dispute.decide(person, **options)

    assert refused.value.field == "cause"
    assert not Adjudication.objects.exists() and not Comment.objects.exists()


def test_clear_record_makes_a_case_for_judges_and_an_ambiguous_criterion_none():
    dispute = Dispute()
    assert "item-2" not in {case.key for case in regression_cases(dispute.pilot.benchmark)}

    dispute.decide(cause="judge_error")
    (case,) = [case for case in regression_cases(dispute.pilot.benchmark) if case.key == "item-2"]
    assert (case.people, case.cause, case.judge_erred) == ("no", "judge_error", False)

    dispute.decide(cause="criterion_ambiguous")
    assert "item-2" not in {case.key for case in regression_cases(dispute.pilot.benchmark)}


def test_auditors_may_say_how_sure_they_are_and_what_makes_it_hard():
    pilot = judged_pilot()
    person = make_person(pilot.benchmark, "auditor")
    campaign: AuditCampaign = open_audit(pilot, by=None, unit="session", own_tasks=True)
    answer = {"auditor": person, "answer": "answered", "answers": RIGHT, "number": 1}

    for wrong in ({"cause": "auditor_error"}, {"confidence": 4}):
        with pytest.raises(OptionsError):
            record_judgment(campaign.packets.get(), **answer, **wrong)
    row = record_judgment(campaign.packets.get(), **answer, confidence=1, cause="evidence_not_visible")

    assert (row.confidence, row.cause) == (1, "evidence_not_visible")
