import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotations.campaigns import close_campaign
from annotations.leases import take_seat
from annotations.models import Judgment, Seat
from tests.annotations.builders import make_benchmark, make_campaign, make_person, record_judgment

pytestmark = pytest.mark.django_db

SEALED = ("sealed quote", "sealed reason", "sealed-judge-model")


def signed_in(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


def answer_all(campaign, person, *answers):
    for packet, choice in zip(campaign.packets.all(), answers, strict=False):
        record_judgment(packet, auditor=person, answer=choice, number=1)


def lease(campaign, person, position=1):
    assert take_seat(campaign.packets.get(position=position).pk, person)


def page(client, url, status=200):
    response = client.get(url)
    assert response.status_code == status
    return response.content.decode()


def test_audit_needs_sign_in_and_membership():
    campaign, _ = make_campaign()
    stranger = signed_in(make_person(make_benchmark(), "owner"))
    here = f"/audits/{campaign.pk}/"

    for url in (here, f"{here}judge/", f"{here}judge/1/", f"{here}adjudicate/1/"):
        assert stranger.get(url).status_code == 404
    for url in (f"{here}close/", f"{here}undo/", f"{here}results/"):
        assert stranger.post(url).status_code == 404
    assert Client().get(here).status_code == 302
    assert campaign.name not in page(stranger, "/audits/")


@pytest.mark.slow
def test_auditor_judges_all_questions_and_opens_the_results():
    campaign, (ana,) = make_campaign(size=2)
    client = signed_in(ana)
    assert "2 decisions to judge" in page(client, campaign.get_absolute_url())

    for number in (1, 2):
        asked = client.get(f"/audits/{campaign.pk}/judge/", follow=True)
        assert f"<b>{number}</b> of 2" in asked.content.decode()
        data = {"answer": "yes", "number": "1", "evidence": "by five tomorrow", "comment": "", "milliseconds": "900"}
        client.post(asked.request["PATH_INFO"], data)

    assert [row.evidence for row in Judgment.objects.all()] == [["by five tomorrow"]] * 2
    last = client.get(f"/audits/{campaign.pk}/judge/", follow=True).content.decode()
    assert "You have judged everything assigned to you" in last
    assert "50.0 %" not in last
    shown = client.post(f"/audits/{campaign.pk}/results/", follow=True).content.decode()
    assert "50.0 %" in shown
    assert "9.5–90.5 %" in shown


@pytest.mark.slow
def test_sealed_decision_is_hidden_until_everything_is_judged():
    campaign, (ana, ben) = make_campaign(size=3, auditors=2, overlap=2)
    answer_all(campaign, ben, "no", "no", "no")
    answer_all(campaign, ana, "yes", "yes")
    client = signed_in(ana)
    lease(campaign, ana, 3)

    pages = [page(client, url) for url in ("/audits/", campaign.get_absolute_url(), f"/audits/{campaign.pk}/judge/3/")]
    client.post(f"/audits/{campaign.pk}/results/")
    pages.append(page(client, campaign.get_absolute_url()))

    assert not [secret for text in pages for secret in SEALED if secret in text]
    assert all("Disagreements" not in text for text in pages)
    assert page(client, f"/audits/{campaign.pk}/adjudicate/3/", 403)


def test_rejected_answer_preserves_input():
    campaign, (ana,) = make_campaign()
    lease(campaign, ana)
    data = {"answer": "yes", "number": "1", "evidence": "nobody said this", "comment": "typed <b>words</b>"}

    text = signed_in(ana).post(f"/audits/{campaign.pk}/judge/1/", data).content.decode()

    assert "does not occur in what is shown" in text
    assert "typed &lt;b&gt;words&lt;/b&gt;" in text
    assert not Judgment.objects.exists()


def test_duplicate_answer_leads_on_and_changed_one_is_explained():
    campaign, (ana,) = make_campaign()
    client, url = signed_in(ana), f"/audits/{campaign.pk}/judge/1/"
    lease(campaign, ana)

    assert client.post(url, {"answer": "yes", "number": "1"}).status_code == 302
    assert client.post(url, {"answer": "yes", "number": "1"}).status_code == 302
    changed = client.post(url, {"answer": "no", "number": "1"})

    assert changed.status_code == 409
    assert "already answered this one" in changed.content.decode()
    assert Judgment.objects.count() == 1


def test_undo_shows_the_question_again():
    campaign, (ana,) = make_campaign(size=1)
    client = signed_in(ana)
    lease(campaign, ana)
    client.post(f"/audits/{campaign.pk}/judge/1/", {"answer": "yes", "number": "1"})

    text = client.post(f"/audits/{campaign.pk}/undo/", follow=True).content.decode()

    assert "Here is the question again" in text
    assert re.search(r'name="number" value="3"', text)
    nothing = client.post(f"/audits/{campaign.pk}/undo/", follow=True).content.decode()
    assert "You have no answer to undo" in nothing


def test_auditor_who_opened_results_can_no_longer_judge():
    campaign, (ana,) = make_campaign(size=1)
    client = signed_in(ana)
    lease(campaign, ana)
    client.post(f"/audits/{campaign.pk}/judge/1/", {"answer": "yes", "number": "1"})
    client.post(f"/audits/{campaign.pk}/results/")

    text = client.post(f"/audits/{campaign.pk}/undo/", follow=True).content.decode()

    assert "answers can no longer be changed" in text
    assert "Undone" not in text
    assert Judgment.objects.count() == 1


@pytest.mark.slow
def test_members_see_results_but_only_planners_close():
    campaign, (ana,) = make_campaign(size=2)
    answer_all(campaign, ana, "no", "no")
    viewer = signed_in(make_person(campaign.benchmark, "viewer"))
    manager = signed_in(make_person(campaign.benchmark, "release_manager"))

    text = page(viewer, campaign.get_absolute_url())
    assert "sealed reason" in text
    assert "Close the audit" not in text
    assert viewer.post(f"/audits/{campaign.pk}/close/").status_code == 403
    assert page(viewer, f"/audits/{campaign.pk}/judge/", 403)

    assert "Close the audit" in page(manager, campaign.get_absolute_url())
    manager.post(f"/audits/{campaign.pk}/close/")
    campaign.refresh_from_db()
    assert campaign.state == "closed"


@pytest.mark.slow
def test_adjudicator_does_not_see_the_judges_decision():
    campaign, (ana, ben) = make_campaign(size=1, overlap=2, auditors=2)
    answer_all(campaign, ana, "yes")
    answer_all(campaign, ben, "no")
    client, url = signed_in(make_person(campaign.benchmark, "owner")), f"/audits/{campaign.pk}/adjudicate/1/"
    assert url in page(client, campaign.get_absolute_url())

    text = page(client, url)
    assert not [secret for secret in (*SEALED, ana.username, ben.username) if secret in text]
    assert "Give your reason in one sentence" in client.post(url, {"decision": "yes", "reason": ""}).content.decode()
    assert client.post(url, {"decision": "no", "reason": "Not said."}).status_code == 302

    assert "Not said." in page(client, campaign.get_absolute_url())


def test_agent_output_is_escaped():
    campaign, (ana,) = make_campaign(size=1)
    shown = campaign.packets.get().content
    campaign.packets.all().delete()
    shown["parts"][1]["text"] = "<script>alert(1)</script>"
    packet = campaign.packets.create(position=1, kind="checklist", content=shown, sealed={"decision": True}, source="x")
    packet.seats.create(number=1, auditor=ana)

    text = page(signed_in(ana), f"/audits/{campaign.pk}/judge/1/")

    assert "<script>alert" not in text
    assert "&lt;script&gt;alert" in text


def test_empty_list_explains_audits():
    assert "No audit yet" in page(signed_in(make_person(make_benchmark(), "owner")), "/audits/")


@pytest.mark.slow
@pytest.mark.parametrize("role", ["auditor", "viewer"])
def test_lists_have_a_constant_number_of_queries(role):
    def count(audits: int, size: int) -> tuple[int, int]:
        benchmark = make_benchmark()
        client = signed_in(make_person(benchmark, role))
        campaigns = [make_campaign(benchmark, size=size, overlap=2, auditors=2) for _ in range(audits)]
        for campaign, people in campaigns:
            campaign.auditors.set(people)
            for person in people:
                answer_all(campaign, person, *(["no"] * size))
        counts = []
        for url in ("/audits/", campaigns[0][0].get_absolute_url()):
            with CaptureQueriesContext(
                connection,
            ) as queries:
                page(client, url)
            counts.append(len(queries))
        return counts[0], counts[1]

    assert count(1, 1) == count(3, 6)


@pytest.mark.slow
def test_nobody_judges_a_packet_by_address_that_is_complete_or_not_theirs():
    campaign, (ana, ben) = make_campaign(size=2, auditors=2)
    first, second = (f"/audits/{campaign.pk}/judge/{position}/" for position in (1, 2))
    record_judgment(campaign.packets.get(position=1), auditor=ana, answer="yes", number=1)
    lease(campaign, ana, 2)
    client = signed_in(ben)

    for url in (first, second):
        assert client.get(url).headers["Location"] == f"/audits/{campaign.pk}/judge/"
        refused = client.post(url, {"answer": "yes", "number": "1"})
        assert refused.status_code == 409
        assert "This decision is not yours to judge" in refused.content.decode()
        assert "paper number" not in refused.content.decode()

    assert page(client, f"/audits/{campaign.pk}/adjudicate/2/", 403)
    assert Judgment.objects.count() == 1
    assert "Nothing for you at the moment" in client.get(f"/audits/{campaign.pk}/judge/", follow=True).content.decode()


def test_skip_needs_a_reason_and_is_shown_beside_the_comment():
    campaign, (ana,) = make_campaign(size=1)
    client, url = signed_in(ana), f"/audits/{campaign.pk}/judge/1/"
    lease(campaign, ana)

    assert "Say why you skip it" in client.post(url, {"answer": "skipped", "number": "1"}).content.decode()
    assert client.post(url, {"answer": "skipped", "number": "1", "comment": "I know the agent."}).status_code == 302

    assert [(row.in_short, row.comment) for row in Judgment.objects.all()] == [("skipped", "I know the agent.")]


@pytest.mark.slow
def test_results_page_shows_table_6_agreement_and_which_way_the_judge_errs():
    campaign, people = make_campaign(size=2, overlap=3, auditors=3)
    for person, answers in zip(people, (("no", "no"), ("no", "no"), ("yes", "no")), strict=True):
        answer_all(campaign, person, *answers)

    text = page(signed_in(make_person(campaign.benchmark, "viewer")), campaign.get_absolute_url())
    text = " ".join(text.split())  # split takes unbreakable spaces as well

    row = '<td data-label="Checklist">50.0 % (9.5–90.5 %, n = 2)</td> <td data-label="Hidden intents">– (n = 0)</td>'
    assert f'<th scope="row">People</th> {row}' in text
    assert "Which way the judge errs" in text
    assert "Gwet&#x27;s AC1" in text or "Gwet's AC1" in text


def test_next_packet_is_fetched_ahead_and_an_answer_takes_one_small_request():
    campaign, (ana,) = make_campaign(size=3)
    client = signed_in(ana)
    first = client.get(f"/audits/{campaign.pk}/judge/").url

    ahead = client.get(f"/audits/{campaign.pk}/judge/?after={first.split('/')[-2]}")
    script = {"X-Studio-Script": "1"}
    answer = client.post(first, {"answer": "yes", "number": 1}, headers=script)

    address = answer.json()["address"]
    assert address != first
    text = ahead.content.decode()
    assert f'data-address="{address}"' in text
    assert "<b>2</b> of 3" in text
    assert len(answer.content) < 100
    last = client.post(address, {"answer": "no", "number": 1}, headers=script).json()["address"]
    assert client.get(f"/audits/{campaign.pk}/judge/?after={last.split('/')[-2]}").status_code == 204
    assert client.get(f"/audits/{campaign.pk}/judge/?after=x").status_code == 404


@pytest.mark.slow
def test_answer_given_beside_a_shown_packet_brings_the_one_after_that():
    campaign, (ana,) = make_campaign(size=3)
    client = signed_in(ana)
    addresses = [client.get(f"/audits/{campaign.pk}/judge/").url]
    ahead = client.get(f"/audits/{campaign.pk}/judge/?after={addresses[0].split('/')[-2]}").content.decode()
    addresses += re.findall(r'data-address="([^"]+)"', ahead)
    shown = {"X-Studio-Script": "1", "X-Studio-After": addresses[1].split("/")[-2]}

    page = client.post(addresses[0], {"answer": "yes", "number": 1}, headers=shown).json()["page"]

    (third,) = re.findall(r'data-address="([^"]+)"', page)
    assert third not in addresses and "<b>3</b> of 3" in page
    shown["X-Studio-After"] = third.split("/")[-2]
    assert client.post(addresses[1], {"answer": "no", "number": 1}, headers=shown).json() == {"page": None}


def test_page_fetched_ahead_counts_an_answer_stored_before_it_once():
    campaign, (ana,) = make_campaign(size=3)
    client = signed_in(ana)
    first = client.get(f"/audits/{campaign.pk}/judge/").url
    client.post(first, {"answer": "yes", "number": 1}, headers={"X-Studio-Script": "1"})

    ahead = client.get(f"/audits/{campaign.pk}/judge/?after={first.split('/')[-2]}").content.decode()

    assert "<b>2</b> of 3" in ahead and "1 of 3 judged" in ahead


@pytest.mark.slow
def test_auditor_reopens_any_of_their_answers_until_the_audit_is_closed():
    campaign, (ana, ben) = make_campaign(size=3, auditors=2)
    first = campaign.packets.get(position=1)
    for packet, answer in zip(campaign.packets.all()[:2], ("yes", "no"), strict=True):
        record_judgment(packet, auditor=ana, answer=answer, number=1)
    client = signed_in(ana)
    assert "Your answers: 2" in client.get(f"/audits/{campaign.pk}/").content.decode()
    assert "Your answers" not in signed_in(ben).get(f"/audits/{campaign.pk}/").content.decode()

    reopened = client.post(f"/audits/{campaign.pk}/undo/", {"position": 1})

    assert reopened.url == f"/audits/{campaign.pk}/judge/1/"
    assert [row.in_short for row in first.judgments.order_by("number")] == ["yes", "undone"]
    assert "Your answers: 1" in client.get(f"/audits/{campaign.pk}/").content.decode()
    close_campaign(campaign, by=ana)
    client.post(f"/audits/{campaign.pk}/undo/", {"position": 2})
    assert campaign.packets.get(position=2).judgments.count() == 1


@pytest.mark.parametrize(
    "forged",
    [
        {"answer": "bogus"}, {"answer": "answered"}, {"answer": "undone"}, {"number": "0"}, {"number": "99999999999"},
        {"number": "2"}, {"milliseconds": "-1"}, {"milliseconds": "1e9"}, {"confidence": "7"},
        {"cause": "auditor_error"}, {"cause": "x" * 300}, {"evidence": "Words of nobody."}, {"comment": "x" * 9_999},
        {"answer": "skipped"}, {"comment": "nul \x00 byte"}, {},
    ],
)  # fmt: skip
def test_forged_answers_store_nothing_and_never_show_a_packet_of_others(forged: dict[str, str]):
    campaign, (ana, ben) = make_campaign(size=2, auditors=2)
    lease(campaign, ana, 1)
    lease(campaign, ben, 2)
    client = signed_in(ben)
    theirs, own = (f"/audits/{campaign.pk}/judge/{position}/" for position in (1, 2))
    data = {"answer": "yes", "number": "1"} | forged

    refused = client.post(theirs, data)
    client.post(own, data)

    assert refused.status_code == 409
    assert "paper number" not in refused.content.decode()
    stored = list(Judgment.objects.values_list("packet__position", "answers__value", "comment"))
    assert stored in ([], [(2, "yes", "")]) if not forged else stored in ([], [(2, "yes", "nul  byte")])


def test_two_tabs_a_closed_audit_and_a_lost_lease_store_no_second_answer_and_keep_what_was_typed():
    campaign, (ana, ben) = make_campaign(size=2, auditors=2)
    lease(campaign, ana, 1)
    client = signed_in(ana)
    own = f"/audits/{campaign.pk}/judge/1/"
    assert client.post(own, {"answer": "yes", "number": "1"}).status_code == 302
    other_tab = client.post(own, {"answer": "no", "number": "1", "comment": "typed in the other tab"})
    assert other_tab.status_code == 409 and "typed in the other tab" in other_tab.content.decode()

    lease(campaign, ana, 2)
    Seat.objects.filter(packet__position=2).update(leased_until=timezone.now() - timedelta(minutes=1))
    lease(campaign, ben, 2)
    lost = client.post(f"/audits/{campaign.pk}/judge/2/", {"answer": "no", "number": "1", "comment": "typed too late"})
    assert lost.status_code == 409 and "typed too late" in lost.content.decode()

    close_campaign(campaign, by=ana)
    late = signed_in(ben).post(f"/audits/{campaign.pk}/judge/2/", {"answer": "no", "number": "1"})
    assert late.status_code == 409 and "has been closed" in late.content.decode()
    assert list(Judgment.objects.values_list("packet__position", "answers__value")) == [(1, "yes")]


@pytest.mark.slow
def test_audit_without_answers_says_what_will_stand_there():
    campaign, _ = make_campaign()
    client = signed_in(make_person(campaign.benchmark, "owner"))

    before = page(client, campaign.get_absolute_url())
    lease(campaign, campaign.benchmark.memberships.get(role="auditor").user)
    answer_all(campaign, campaign.benchmark.memberships.get(role="auditor").user, "yes")

    assert "Nobody has answered yet" in before and "<table" not in before
    assert "Nobody has answered yet" not in page(client, campaign.get_absolute_url())
