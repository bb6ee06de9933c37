"""Auditing whole sessions: every terminal status and every checklist item, as the paper does."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from pyarrow import parquet

from annotations.adjudication import adjudicate, undecided_packets
from annotations.exports import export_csv
from annotations.figures import campaign_figures
from annotations.judgments import undo_last
from annotations.leases import take_seat
from annotations.models import AuditCampaign, Consensus, Judgment, Seat
from evaluation.models import Pilot, Session
from studio.domain.options import OptionsError
from tests.annotations.builders import decided, judged, make_person, open_audit, record_judgment
from tests.evaluation.factories import finish, pilot_row, resolve_intent, turn, verdict

pytestmark = pytest.mark.django_db

RIGHT = {"intent-1": "completed", "intent-2": "inferred", "item-1": "yes", "item-2": "no"}
"""What the judge decided of ``judged_pilot``."""


def judged_pilot(benchmark=None, **options: object) -> Pilot:
    """One finished session of two turns, with two statuses and two items."""
    pilot = pilot_row(benchmark, **options)
    session = finish(pilot)
    turn(session, 1, reply="The fee is 70.", files={"note.md": b"one"})
    turn(session, 2, message="Please sign it.", reply="Signed by scripted-helpful.", files={"note.md": b"two"})
    resolve_intent(session, 1, "completed", 1)
    resolve_intent(session, 2, "inferred", 2)
    for number in (1, 2):
        verdict(session, turn=number, index=1, met=number == 2, reason="walrus reason")
        verdict(session, turn=number, index=2, label="It is signed.", met=False)
    return pilot


def session_audit(people: int = 3) -> tuple[AuditCampaign, list]:
    pilot = judged_pilot()
    auditors = [make_person(pilot.benchmark, "auditor") for _ in range(people)]
    return open_audit(pilot, by=None, overlap=people, unit="session"), auditors


def answer(campaign: AuditCampaign, person, **changes: str) -> Judgment:
    answers = RIGHT | {name.replace("_", "-"): value for name, value in changes.items()}
    return record_judgment(campaign.packets.get(), auditor=person, answer="answered", answers=answers, number=1)


def test_command_opens_an_audit_of_whole_sessions_with_as_many_of_each_pilot():
    first = judged_pilot()
    second = judged_pilot(first.benchmark)
    for _ in range(3):
        make_person(first.benchmark, "auditor")
    out = StringIO()

    numbers = [str(first.pk), str(second.pk)]
    options = ["--unit", "session", "--seed", "3", "--json"]
    call_command("audit", "--benchmark", first.benchmark.slug, "--pilot", *numbers, *options, stdout=out)

    campaign = AuditCampaign.objects.get()
    assert json.loads(out.getvalue()) == {"campaign": campaign.pk, "packets": 2, "judgments_wanted": 6}
    assert (campaign.unit, set(campaign.packets.values_list("kind", flat=True))) == ("session", {"session"})
    assert len(set(campaign.packets.values_list("stratum", flat=True))) == 2


def test_packet_asks_every_status_and_item_in_order_and_shows_the_session_without_names():
    campaign, _ = session_audit()
    packet = campaign.packets.get()

    assert [row["key"] for row in packet.content["questions"]] == list(RIGHT)
    assert judged(packet) == RIGHT
    shown = [(part["role"], part["text"]) for part in packet.content["parts"]]
    assert ("assistant", "Signed by ▮▮▮.") in shown
    assert [role for role, _ in shown] == ["user", "assistant", "file"] * 2
    assert (packet.truth, packet.content["left_out"]) == (True, [])
    assert "walrus" not in json.dumps(packet.content)
    assert packet.sealed["reasons"]["item-1"] == "walrus reason"


@pytest.mark.slow
def test_table_6_counts_statuses_and_items_after_majority():
    campaign, people = session_audit()

    answer(campaign, people[0], intent_2="provided", item_1="no")
    answer(campaign, people[1], intent_2="provided", item_1="yes")
    answer(campaign, people[2], intent_2="completed", item_1="yes", item_2="unsure")

    report = campaign_figures(campaign)
    (row,) = report["table6"]
    assert (row["checklist"]["count"], row["checklist"]["n"]) == (0, 2)
    assert (row["intents"]["count"], row["intents"]["n"], row["intents"]["too_lenient"]) == (1, 2, 1)
    assert (report["unit"], report["resolved"], report["undecided"]) == ("session", 1, 0)
    assert report["statuses"][1] == {"judge": "inferred", "completed": 0, "inferred": 0, "provided": 1}
    assert decided(campaign.packets.get()) == RIGHT | {"intent-2": "provided"}


def test_session_needs_an_answer_to_every_question():
    campaign, people = session_audit()
    packet = campaign.packets.get()

    with pytest.raises(OptionsError) as missing:
        record_judgment(packet, auditor=people[0], answer="answered", answers={"intent-1": "yes"}, number=1)
    with pytest.raises(OptionsError):
        record_judgment(packet, auditor=people[0], answer="yes", number=1)

    assert missing.value.field == "answers.intent-1"
    assert "4 questions are still open" in str(missing.value)
    assert not Judgment.objects.exists()


@pytest.mark.slow
def test_adjudicator_decides_exactly_the_questions_without_a_majority():
    campaign, people = session_audit(2)
    answer(campaign, people[0])
    answer(campaign, people[1], intent_1="provided", item_2="unsure")
    packet = campaign.packets.get()
    owner = make_person(campaign.benchmark, "owner")
    assert undecided_packets(campaign) == [packet.pk]

    with pytest.raises(OptionsError):
        adjudicate(packet, by=owner, answers={"intent-1": "provided"}, reason="It was said.")
    adjudicate(packet, by=owner, answers={"intent-1": "provided", "item-2": "no"}, reason="It was said.")

    assert decided(campaign.packets.get()) == RIGHT | {"intent-1": "provided"}
    assert undecided_packets(campaign) == []
    (row,) = campaign_figures(campaign)["table6"]
    assert (row["intents"]["n"], row["no_majority"]) == (1, 2)


def client_of(person) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.slow
def test_session_is_judged_on_one_page_which_keeps_what_was_entered():
    campaign, (ana, *_) = session_audit()
    client, url = client_of(ana), f"/audits/{campaign.pk}/judge/1/"
    text = client.get(f"/audits/{campaign.pk}/judge/", follow=True).content.decode()
    assert text.count("<fieldset") == 4
    assert "walrus" not in text

    entered = {"answers.intent-1": "completed", "answers.item-1": "no", "answers.item-2": "nonsense", "comment": "hm"}
    assert client.post(f"{url}autosave/", entered).status_code == 204
    again = client.get(url).content.decode()
    assert 'value="completed" checked' in again
    assert again.count(" checked") == 2
    rejected = client.post(url, {"answer": "answered", "number": "1", "answers.intent-1": "provided"})
    assert "3 questions are still open" in rejected.content.decode()
    assert 'value="provided" checked' in rejected.content.decode()

    data = {f"answers.{key}": value for key, value in RIGHT.items()}
    assert client.post(url, {"answer": "answered", "number": "1", **data}).status_code == 302
    assert Judgment.objects.get().by_question == RIGHT


def test_autosave_is_refused_to_those_who_do_not_hold_the_session():
    campaign, (ana, ben, _) = session_audit()
    packet = campaign.packets.get()
    assert take_seat(packet.pk, ana)

    url = f"/audits/{campaign.pk}/judge/1/autosave/"
    assert client_of(ben).post(url, {"comment": "mine"}).status_code == 409
    assert not Seat.objects.filter(draft__isnull=False).exists()


def test_undo_brings_the_answers_back_to_the_page():
    campaign, (ana, *_) = session_audit()
    answer(campaign, ana, item_1="no")

    undo_last(campaign, ana)

    text = client_of(ana).get(f"/audits/{campaign.pk}/judge/1/").content.decode()
    assert text.count(" checked") == 4


@pytest.mark.slow
def test_adjudication_page_of_a_session_shows_only_what_is_open_and_nothing_sealed():
    campaign, people = session_audit(2)
    answer(campaign, people[0])
    answer(campaign, people[1], intent_1="provided")
    client = client_of(make_person(campaign.benchmark, "owner"))
    url = f"/audits/{campaign.pk}/adjudicate/1/"

    text = client.get(url).content.decode()
    assert text.count("<fieldset") == 1
    assert "1 completed, 1 provided" in text
    assert "<b>completed</b>" in text and "<b>provided</b>" in text
    assert "walrus" not in text
    assert "Decide every question" in client.post(url, {"reason": "said"}).content.decode()
    assert client.post(url, {"reason": "said", "answers.intent-1": "provided"}).status_code == 302

    assert Consensus.objects.get().resolved
    page = client.get(f"/audits/{campaign.pk}/").content.decode()
    assert "people: provided" in page


@pytest.mark.slow
def test_report_gives_raw_and_corrected_scores_of_each_agent():
    pilot = pilot_row(runs=4)
    sessions = list(Session.objects.filter(run__pilot=pilot).order_by("pk"))
    for session in sessions:
        Session.objects.filter(pk=session.pk).update(state="finished", ended_at=timezone.now())
        turn(session, 1)
        resolve_intent(session, 1, "completed", 1)
        resolve_intent(session, 2, "provided", 1)
        verdict(session, index=1, met=True)
        verdict(session, index=2, met=False)
    ana = make_person(pilot.benchmark, "auditor")
    campaign = open_audit(pilot, by=None, overlap=1, unit="session", size=2)
    for packet in campaign.packets.all():
        answers = judged(packet) | {"item-1": "no"}
        record_judgment(packet, auditor=ana, answer="answered", answers=answers, number=1)

    (row,) = campaign_figures(campaign)["scores"]

    assert (row["agent"], row["comp"]["sessions"], row["comp"]["audited"]) == (pilot.agent_name, 4, 2)
    assert (row["comp"]["raw"]["value"], row["comp"]["corrected"]["value"]) == (0.5, 0.0)
    assert (row["proc"]["raw"]["value"], row["proc"]["corrected"]["value"], row["proc"]["rank"]) == (0.5, 0.5, 1)


@pytest.mark.slow
def test_everything_is_exported_to_those_who_see_the_results_and_the_plan_tells_no_answer():
    campaign, (ana, ben, _) = session_audit()
    answer(campaign, ana, item_1="no")
    owner = client_of(make_person(campaign.benchmark, "owner"))
    url = f"/audits/{campaign.pk}/"

    plan = owner.get(f"{url}plan/").content.decode()
    rows = list(csv.DictReader(owner.get(f"{url}export.csv").content.decode().splitlines()))
    whole = owner.get(f"{url}export.json").json()

    assert json.loads(plan)["sample"][0]["questions"] == list(RIGHT)
    assert not [word for word in ("completed", "yes", "walrus", "scripted-judge") if word in plan]
    assert [(row["question"], row["judge"], row["answer"]) for row in rows] == [
        (key, judge, "no" if key == "item-1" else judge) for key, judge in RIGHT.items()
    ]
    assert (len(whole["answers"]), whole["report"]) == (4, json.loads(json.dumps(campaign_figures(campaign))))
    table = parquet.read_table(BytesIO(owner.get(f"{url}export.parquet").content))
    assert [(row["question"], row["answer"]) for row in table.to_pylist()] == [
        (row["question"], row["answer"]) for row in whole["answers"]
    ]
    assert client_of(ben).get(f"{url}export.csv").status_code == 302
    assert client_of(ben).get(f"{url}plan/").status_code == 403


def test_export_does_not_let_a_comment_become_a_formula():
    campaign, (ana, *_) = session_audit()
    packet = campaign.packets.get()
    record_judgment(packet, auditor=ana, answer="answered", answers=RIGHT, number=1, comment="=1+1")

    assert "'=1+1" in export_csv(campaign)


def test_size_follows_from_the_half_width_wanted():
    pilot = judged_pilot()
    make_person(pilot.benchmark, "auditor")

    audit = open_audit(pilot, by=None, overlap=1, unit="session", half_width=5)
    with pytest.raises(OptionsError):
        open_audit(pilot, by=None, overlap=1, half_width=70)

    assert audit.packets.count() == 1  # all there are
