"""A judge that scores a release has been compared with people, once there is something to compare it on."""

from __future__ import annotations

import pytest
from django.utils import timezone

from annotations.models import AuditCampaign
from evaluation.audits.campaigns import open_audit
from evaluation.audits.gate import uncompared_judges
from evaluation.models import Judging, JudgingRound, Pilot, ScoringChoice, Session
from evaluation.models.judgings import Purpose
from evaluation.releases.readiness import not_compared
from tests.annotations.builders import make_person, record_judgment
from tests.evaluation.audits.test_sessions import RIGHT, judged_pilot

pytestmark = pytest.mark.django_db


def audit(pilot: Pilot) -> None:
    """By one person; as if its judge were a real one."""
    person = make_person(pilot.benchmark, "auditor")
    campaign = open_audit(pilot, by=None, unit="session", own_tasks=True, auditors=[person])
    AuditCampaign.objects.filter(pk=campaign.pk).update(scripted=False)
    record_judgment(campaign.packets.get(), auditor=person, answer="answered", answers=RIGHT, number=1)
    Judging.objects.filter(session__run__pilot=pilot).update(state="finished", finished_at=timezone.now())


def with_new_prompt(pilot: Pilot) -> JudgingRound:
    """The pilot is scored by another version of the checklist's prompt."""
    first = pilot.rounds.get()
    prompts = first.prompts | {"checklist": {"version": "9", "sha256": "9" * 64}}
    new = JudgingRound.objects.create(
        pilot=pilot, number=2, purpose=Purpose.REJUDGING, judge=first.judge, prompts=prompts
    )
    rules = pilot.scoring_choices.first().rules
    ScoringChoice.objects.create(pilot=pilot, round=new, rules=rules)
    return new


def test_first_judge_without_a_set_is_not_blocked():
    assert uncompared_judges((pilot := judged_pilot()).benchmark, [pilot]) == []


def test_judge_that_people_audited_may_score():
    pilot = judged_pilot()
    audit(pilot)

    assert uncompared_judges(pilot.benchmark, [pilot]) == []


def test_new_prompt_version_must_judge_audited_sessions_before_it_scores_a_release():
    audited = judged_pilot()
    audit(audited)
    later = judged_pilot(audited.benchmark)
    new = with_new_prompt(later)

    (found,) = uncompared_judges(audited.benchmark, [audited, later])

    assert (found.prompt, found.pilots, found.compared, found.needed) == ("checklist prompt 9", (later.number,), 0, 1)
    blocker = not_compared(found)
    assert blocker.code == "judge-not-compared"
    assert "has not been compared with people: it has judged none of the sessions" in blocker.message

    again = JudgingRound.objects.create(
        pilot=audited, number=2, purpose=Purpose.REJUDGING, judge=new.judge, prompts=new.prompts
    )
    session = Session.objects.get(run__pilot=audited)
    row = session.judgings.filter(scoring="strict").first()
    row.pk, row.round, row.purpose = None, again, Purpose.REJUDGING
    row.save(force_insert=True)

    assert uncompared_judges(audited.benchmark, [audited, later]) == []
