"""What cannot be judged is an answer of its own: out of every rate of disagreement, in a rate of its own."""

import pytest
from django.test import Client

from annotations.adjudication import adjudicate
from annotations.campaigns import close_campaign
from annotations.figures import campaign_figures
from annotations.models import Consensus
from annotations.results import summarize
from studio.domain.options import OptionsError
from tests.annotations.builders import (
    decided,
    make_benchmark,
    make_campaign,
    make_decision,
    make_person,
    make_session,
    open_campaign,
    record_judgment,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("answer", "figure"), [("not_shown", "not_enough_shown"), ("broken", "broken")])
def test_what_most_people_cannot_judge_disagrees_with_nobody_and_has_its_own_rate(answer: str, figure: str):
    campaign, [ana] = make_campaign(size=4)
    for packet, given in zip(campaign.packets.all(), (answer, "no", "yes", answer), strict=True):
        record_judgment(packet, auditor=ana, answer=given)

    figures = campaign_figures(campaign)

    assert (figures[figure]["count"], figures[figure]["n"], figures["undecided"]) == (2, 4, 0)
    assert figures[figure]["low"] > 0
    assert figures["table6"][0]["no_majority"] == 0
    assert figures["disagreement"]["all"]["n"] == 2


@pytest.mark.slow
def test_an_adjudicator_may_find_that_too_little_is_shown():
    campaign, people = make_campaign(size=1, overlap=2, auditors=2)
    packet = campaign.packets.get()
    for person, answer in zip(people, ("yes", "not_shown"), strict=True):
        record_judgment(packet, auditor=person, answer=answer)
    owner = make_person(campaign.benchmark, "owner")

    adjudicate(packet, by=owner, answers={"decision": "not_shown"}, reason="The letter is not shown.")

    assert (decided(packet), Consensus.objects.get().resolved) == ({"decision": "not_shown"}, True)
    close_campaign(campaign, by=owner)
    client = Client()
    client.force_login(owner)
    page = client.get(f"/audits/{campaign.pk}/").content.decode()
    assert "What could not be judged" in page and "The letter is not shown." in page
    assert "Turn 1: 1 file written, none shown (missing: letter.md)." in page


def test_each_question_offers_both_by_one_key():
    campaign, [ana] = make_campaign(size=1)
    client = Client()
    client.force_login(ana)

    page = client.get(f"/audits/{campaign.pk}/judge/", follow=True).content.decode()

    for value, key in (("not_shown", "m"), ("broken", "b")):
        assert f'value="{value}" data-key="{key}"' in page


def test_a_decision_that_two_audits_asked_counts_once_as_the_newer_decided():
    benchmark = make_benchmark()
    ana = make_person(benchmark, "auditor")
    options = {"name": "x", "source": "pilot:1", "seed": 1, "overlap": 1, "scripted": False}
    first, second, third = (open_campaign(benchmark, [make_decision(1)], **options) for _ in range(3))
    record_judgment(first.packets.get(), auditor=ana, answer="yes")
    record_judgment(second.packets.get(), auditor=ana, answer="no")

    summary = summarize([first, second, third])

    assert (summary.total.rate.count, summary.total.rate.n, summary.packets) == (1, 1, 1)


def test_where_nothing_was_left_out_absence_means_no():
    campaign, [ana] = make_campaign(decisions=[make_session(1, {"item-1": "yes", "item-2": "no"})])

    with pytest.raises(OptionsError, match="absence means No") as refused:
        record_judgment(campaign.packets.get(), auditor=ana, answers={"item-1": "not_shown", "item-2": "broken"})

    assert refused.value.field == "answers.item-1"
