"""What people decided otherwise than the judge may score, by a recorded choice."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from annotations.campaigns import close_campaign
from annotations.figures import campaign_figures
from annotations.models import AuditCampaign
from evaluation.audits.corrections import correct_by_audit, corrections_by, take_corrections_back, why_not_scored
from evaluation.audits.gate import judges_document
from evaluation.models import JudgingRound, Pilot, ScoringChoice, Session, Verdict, VerdictCorrection
from evaluation.results.scores import read_scores
from studio.domain.options import OptionsError
from studio.models import Event
from tests.annotations.builders import judged, make_person, open_audit, record_judgment
from tests.evaluation.audits.test_sessions import RIGHT, judged_pilot
from tests.evaluation.factories import verdict

pytestmark = pytest.mark.django_db


def pilot_with_intent_verdicts() -> Pilot:
    pilot = judged_pilot()
    session = Session.objects.get(run__pilot=pilot)
    Session.objects.filter(pk=session.pk).update(graded_strict_at=timezone.now())
    verdict(session, "satisfaction", turn=1, index=1, met=True)
    verdict(session, "satisfaction", turn=1, index=2, met=False)
    verdict(session, "satisfaction", turn=2, index=2, met=False)
    verdict(session, "follow_up", turn=2, index=2, met=True)
    Pilot.objects.filter(pk=pilot.pk).update(state="finished")
    return Pilot.objects.get(pk=pilot.pk)


def closed_audit(pilot: Pilot, **answers: str) -> AuditCampaign:
    ana = make_person(pilot.benchmark, "auditor")
    campaign = open_audit(pilot, by=None, unit="session", own_tasks=True, auditors=[ana])
    given = RIGHT | {key.replace("_", "-"): answer for key, answer in answers.items()}
    record_judgment(campaign.packets.get(), auditor=ana, answer="answered", answers=given, number=1)
    close_campaign(campaign, by=ana)
    return AuditCampaign.objects.get(pk=campaign.pk)


def figures_of(campaign: AuditCampaign) -> dict[str, object]:
    return {name: value for name, value in campaign_figures(campaign).items() if name != "history"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "proc", "comp"),
    [
        ({"item_1": "no"}, 1.0, 0.0),
        ({"item_2": "yes"}, 1.0, 1.0),
        ({"intent_1": "provided"}, 0.5, 0.5),
        ({"intent_2": "provided", "item_1": "no"}, 0.5, 0.0),
        ({"intent_2": "completed"}, 1.0, 0.5),
    ],
)
def test_peoples_answers_score_and_the_judges_again(answers: dict[str, str], proc: float, comp: float):
    pilot = pilot_with_intent_verdicts()
    owner = make_person(pilot.benchmark, "owner")
    campaign = closed_audit(pilot, **answers)
    before, figures = read_scores(pilot), figures_of(campaign)
    assert (before["strict"]["proc"], before["strict"]["comp"]) == (1.0, 0.5)

    correct_by_audit(campaign, by=owner, reason="The judge misread it.")

    after = read_scores(Pilot.objects.get(pk=pilot.pk))
    assert (after["strict"]["proc"], after["strict"]["comp"]) == (proc, comp)
    assert figures_of(campaign) == figures
    assert all(row["accuracy"] < 1 for row in judges_document(pilot.benchmark)["judges"])
    again = open_audit(pilot, by=None, unit="session", own_tasks=True)
    assert judged(again.packets.get()) == RIGHT

    take_corrections_back(campaign, by=owner, reason="On second thoughts.")

    assert read_scores(Pilot.objects.get(pk=pilot.pk)) == before
    assert corrections_by(campaign) == []
    summaries = list(Event.objects.filter(verb="verdicts_corrected").order_by("pk").values_list("summary", flat=True))
    reasons = {"The judge misread it.", "On second thoughts."}
    assert set(VerdictCorrection.objects.values_list("reason", flat=True)) == reasons
    # who judges the same in another audit reads them
    assert len(summaries) == 2 and not any(word in text for text in summaries for word in (*reasons, "wrong"))


@pytest.mark.slow
def test_single_decisions_are_corrected_too():
    pilot = pilot_with_intent_verdicts()
    ana = make_person(pilot.benchmark, "auditor")
    campaign = open_audit(pilot, by=None, own_tasks=True, auditors=[ana])
    for packet in campaign.packets.all():
        record_judgment(packet, auditor=ana, answer="no", number=1)
    close_campaign(campaign, by=ana)

    number = correct_by_audit(campaign, by=ana, reason="All wrong.")

    assert number == Verdict.objects.filter(met=True).count()
    assert set(VerdictCorrection.objects.values_list("met", flat=True)) == {False}
    assert read_scores(Pilot.objects.get(pk=pilot.pk))["strict"]["proc"] == 0.0


@pytest.mark.slow
def test_corrections_need_a_closed_audit_a_reason_and_a_difference():
    pilot = pilot_with_intent_verdicts()
    owner = make_person(pilot.benchmark, "owner")
    campaign = closed_audit(pilot)
    client = Client()
    client.force_login(owner)
    page, api = f"/audits/{campaign.pk}/corrections/", f"/api/audits/{campaign.pk}/corrections/"

    assert "People decided otherwise on <b>0</b> questions" in " ".join(client.get(page).content.decode().split())
    assert client.post(api, {"reason": "Because."}).status_code == 409
    assert client.post(api, "[]", content_type="application/json").status_code == 400
    with pytest.raises(OptionsError) as refused:
        correct_by_audit(campaign, by=owner, reason=" ")
    assert refused.value.field == "reason"
    AuditCampaign.objects.update(state="open")
    with pytest.raises(OptionsError, match="Close the audit first"):
        correct_by_audit(campaign, by=owner, reason="Because.")


@pytest.mark.slow
def test_what_people_decided_and_no_verdict_can_say_is_named_with_the_reason():
    pilot = pilot_with_intent_verdicts()
    owner = make_person(pilot.benchmark, "owner")
    campaign = closed_audit(pilot, intent_1="inferred", item_1="no")
    client = Client()
    client.force_login(owner)
    page = f"/audits/{campaign.pk}/corrections/"

    assert why_not_scored(campaign) == {"the judge was never asked what people decided": 1}
    told = " ".join(client.get(page).content.decode().split())
    assert "otherwise on <b>2</b> questions. 1 cannot score: the judge was never asked what people decided." in told
    assert correct_by_audit(campaign, by=owner, reason="It is not there.") == 1

    judging_round = JudgingRound.objects.get(pilot=pilot)
    other = JudgingRound.objects.create(**{**plain(judging_round), "number": 2, "purpose": "rejudging"})
    ScoringChoice.objects.create(pilot=pilot, round=other, rules={}, by=owner)
    assert why_not_scored(campaign) == {"another judging scores its pilot now": 2}


def plain(row):
    return {field.attname: getattr(row, field.attname) for field in row._meta.fields if field.attname != "id"}


@pytest.mark.slow
def test_planner_corrects_by_the_page_and_the_api_and_auditors_cannot():
    pilot = pilot_with_intent_verdicts()
    owner, auditor = make_person(pilot.benchmark, "owner"), make_person(pilot.benchmark, "auditor")
    campaign = closed_audit(pilot, item_1="no")
    client, other = Client(), Client()
    client.force_login(owner)
    other.force_login(auditor)
    page, api = f"/audits/{campaign.pk}/corrections/", f"/api/audits/{campaign.pk}/corrections/"

    assert page in client.get(f"/audits/{campaign.pk}/").content.decode()
    done = client.post(page, {"reason": "It is not there."}, follow=True).content.decode()

    assert "From now on 1 verdict will score as people decided." in done
    assert client.get(api).json()["verdicts_corrected"] == 1
    assert "It is not there." in done
    assert client.post(api, {"reason": "No.", "back": True}, content_type="application/json").json() == {
        "overturned": [{"source": campaign.packets.get().source, "key": "item-1", "judge": "yes", "people": "no"}],
        "verdicts_corrected": 0,
    }
    assert [other.get(page).status_code, other.post(page, {"reason": "x"}).status_code] == [403, 403]


@pytest.mark.slow
def test_pages_say_which_audit_corrected_how_many_of_the_verdicts_that_they_score():
    pilot = pilot_with_intent_verdicts()
    client = Client()
    client.force_login(make_person(pilot.benchmark, "owner"))
    campaign = closed_audit(pilot, item_1="no", intent_1="provided")
    session = Session.objects.get(run__pilot=pilot)
    slug = pilot.benchmark.slug
    pages = [pilot.get_absolute_url(), f"/sessions/{session.pk}/", f"/benchmarks/{slug}/results/"]
    pages += [f"/benchmarks/{slug}/results/{name}/" for name in ("charts", "sessions", "compare")]
    told = f'2 verdicts count as people decided in <a href="{campaign.get_absolute_url()}">{campaign.name}</a>, not as'
    answered = [client.get(page) for page in pages]
    assert [answer.status_code for answer in answered] == [200] * len(pages)
    assert not any("as people decided" in answer.content.decode() for answer in answered)

    client.post(f"{campaign.get_absolute_url()}corrections/", {"reason": "The judge misread it."})

    assert [page for page in pages if told not in " ".join(client.get(page).content.decode().split())] == []
    session.refresh_from_db()
    assert (session.comp_strict, session.covered) == (0.0, 1)
    client.post(f"{campaign.get_absolute_url()}corrections/", {"reason": "On second thoughts.", "back": "1"})
    assert [page for page in pages if "as people decided" in client.get(page).content.decode()] == []
    session.refresh_from_db()
    assert (session.comp_strict, session.covered) == (0.5, 2)
