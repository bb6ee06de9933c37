"""A judge that scores a release has been compared with people, once there is something to compare it on."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from annotations.models import AuditCampaign
from evaluation.audits.gate import judges_document, round_in_use, uncompared_judges, worse_judges
from evaluation.models import Judging, JudgingRound, Pilot, ScoringChoice, Session
from evaluation.models.judgings import Purpose
from evaluation.releases.readiness import is_worse, not_compared
from tests.annotations.builders import make_person, open_audit, record_judgment
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
        protocol=pilot.protocol, pilot=pilot, number=2, purpose=Purpose.REJUDGING, judge=first.judge, prompts=prompts
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


@pytest.mark.slow
def test_new_prompt_version_must_judge_audited_sessions_before_it_scores_a_release():
    audited = judged_pilot()
    audit(audited)
    later = judged_pilot(audited.benchmark)
    new = with_new_prompt(later)

    (found,) = uncompared_judges(audited.benchmark, [audited, later])

    assert (found.judge.pilots, found.compared, found.needed) == ((later.number,), 0, 1)
    assert found.judge.name.endswith(" with checklist prompt 9")
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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"effort": "high"}, "scripted-judge · high"),
        ({"params": {"temperature": 1}}, "scripted-judge · temperature 1"),
        ({"learned": {"dropped": ["temperature"]}}, "scripted-judge · temperature default"),
    ],
)
def test_the_same_model_at_another_effort_or_temperature_is_another_judge(change: dict[str, object], name: str):
    audited = judged_pilot()
    audit(audited)
    later = judged_pilot(audited.benchmark)
    first = later.rounds.get()
    other = JudgingRound.objects.create(
        pilot=later, number=2, purpose=Purpose.REJUDGING, judge=first.judge | change, prompts=first.prompts
    )
    ScoringChoice.objects.create(pilot=later, round=other, rules=later.scoring_choices.first().rules)

    (found,) = uncompared_judges(audited.benchmark, [later])

    assert (found.judge.name.partition(" with ")[0], found.judge.pilots) == (name, (later.number,))


def judge_again(pilot: Pilot, *, wrongly: bool) -> JudgingRound:
    """By another version of the checklist's prompt, which scores the pilot from now on: as before, or with the first
    item, which people find met, not met.
    """
    again = with_new_prompt(pilot)
    for judging in Judging.objects.filter(round__pilot=pilot, round__number=1).order_by("pk"):
        verdicts = list(judging.verdicts.all())
        judging.pk, judging.round, judging.purpose = None, again, Purpose.REJUDGING
        judging.save(force_insert=True)
        for row in verdicts:
            row.pk, row.judging = None, judging
            if wrongly and row.kind == "checklist" and row.index == 1:
                row.met = False
            row.save(force_insert=True)
    return again


@pytest.mark.slow
@pytest.mark.parametrize("wrongly", [False, True])
def test_judge_that_is_worse_than_the_one_in_use_beyond_chance_blocks_a_release(wrongly: bool):
    first = judged_pilot()
    pilots = [first, *(judged_pilot(first.benchmark) for _ in range(4))]
    for pilot in pilots:
        audit(pilot)
    in_use = round_in_use(first.benchmark)
    for pilot in pilots:
        judge_again(pilot, wrongly=wrongly)

    found = worse_judges(first.benchmark, pilots)
    judges = judges_document(first.benchmark)["judges"]

    assert uncompared_judges(first.benchmark, pilots) == []
    assert in_use is not None and in_use.purpose == Purpose.SCORING
    assert [row["in_use"] for row in judges] == [True] * 5 + [False] * 5
    assert judges[5]["beside_judge_in_use"]["wrong"] | {"p": 0} == {
        "n": 20, "before": 0, "now": 5 * wrongly, "p": 0,
    }  # fmt: skip
    if not wrongly:
        assert found == []
        return
    blocker = is_worse(found[0])
    assert (blocker.code, blocker.acceptable) == ("judge-worse", True)
    assert "is worse than scripted-judge with checklist prompt" in blocker.message
    assert "it is wrong in 5 of 20, the other in 0 (p = 0.031)" in blocker.message
    client = Client()
    client.force_login(make_person(first.benchmark, "owner"))
    text = " ".join(client.get(f"/audits/judges/{first.benchmark.slug}/").content.decode().split())
    told = client.get(f"/api/audits/judges/?benchmark={first.benchmark.slug}").json()
    assert "wrong in 5, the other in 0 of 20, p = 0.031" in text
    assert told["judges"][5]["beside_judge_in_use"]["worse"]


def test_how_judges_do_is_closed_to_planners_who_still_judge_blind():
    pilot = judged_pilot()
    person = make_person(pilot.benchmark, "auditor", "owner")
    open_audit(pilot, by=None, unit="session", own_tasks=True, auditors=[person])
    client = Client()
    client.force_login(person)

    for path in (f"/audits/judges/{pilot.benchmark.slug}/", f"/api/audits/judges/?benchmark={pilot.benchmark.slug}"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "closed to you while you judge" in answer.content.decode()
