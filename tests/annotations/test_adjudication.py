import pytest

from annotations.adjudication import AdjudicationError, adjudicate, undecided_packets
from annotations.consensus import agreed
from annotations.judgments import record_judgment
from annotations.models import Consensus
from tests.annotations.builders import make_campaign, make_person

pytestmark = pytest.mark.django_db


def judged(*answers: str, overlap: int = 2):
    campaign, people = make_campaign(size=1, overlap=overlap, auditors=max(len(answers), overlap))
    packet = campaign.packets.get()
    for person, answer in zip(people, answers, strict=False):
        record_judgment(packet, auditor=person, answer=answer, number=1)
    return campaign, packet, people


@pytest.mark.parametrize(
    ("answers", "decision"),
    [
        (["yes", "yes"], True),
        (["no"], False),
        (["yes", "no"], None),
        (["yes", "unsure"], None),
        (["unsure", "unsure"], None),
    ],
)
def test_people_hold_what_all_of_them_say(answers, decision):
    assert agreed(answers) is decision


def test_before_enough_have_judged_there_is_no_consensus():
    campaign, _, _ = judged("yes")

    assert not Consensus.objects.exists()
    assert undecided_packets(campaign) == []


@pytest.mark.parametrize("answers", [("yes", "no"), ("yes", "unsure"), ("unsure", "unsure")])
def test_someone_who_has_not_judged_has_the_last_word(answers):
    campaign, packet, _ = judged(*answers)
    owner = make_person(campaign.benchmark, "owner")
    assert undecided_packets(campaign) == [packet.pk]

    adjudicate(packet, by=owner, decision=False, reason="The date is missing.")

    row = Consensus.objects.get()
    assert (row.decision, row.judged_by, row.adjudicated) == (False, 2, True)
    assert undecided_packets(campaign) == []


def test_a_later_word_replaces_an_earlier_one_and_both_stay():
    campaign, packet, _ = judged("yes", "no")
    owner = make_person(campaign.benchmark, "owner")

    adjudicate(packet, by=owner, decision=False, reason="first thought")
    adjudicate(packet, by=owner, decision=True, reason="second thought")

    assert Consensus.objects.get().decision is True
    assert packet.adjudications.count() == 2


def test_who_judged_or_has_no_role_has_not_the_last_word():
    campaign, packet, (ana, _) = judged("yes", "no")

    for person in (ana, make_person(campaign.benchmark, "viewer"), make_person()):
        with pytest.raises(AdjudicationError, match="has not judged"):
            adjudicate(packet, by=person, decision=True, reason="because")


@pytest.mark.parametrize(
    ("answers", "reason", "words", "field"),
    [
        (("yes",), "because", "Not everyone", ""),
        (("yes", "yes"), "because", "agree", ""),
        (("yes", "no"), "  ", "Give your reason", "reason"),
    ],
)
def test_a_last_word_that_nobody_needs_or_explains_is_refused(answers, reason, words, field):
    campaign, packet, _ = judged(*answers)

    with pytest.raises(AdjudicationError, match=words) as refused:
        adjudicate(packet, by=make_person(campaign.benchmark, "owner"), decision=True, reason=reason)

    assert refused.value.field == field
