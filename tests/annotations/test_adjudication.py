import pytest

from annotations.adjudication import adjudicate, undecided_packets
from annotations.consensus import majority
from annotations.models import Consensus
from studio.domain.options import OptionsError
from tests.annotations.builders import decided, make_campaign, make_person, record_judgment

pytestmark = pytest.mark.django_db


def judged_campaign(*answers: str, overlap: int = 2):
    campaign, people = make_campaign(size=1, overlap=overlap, auditors=max(len(answers), overlap))
    packet = campaign.packets.get()
    for person, answer in zip(people, answers, strict=False):
        record_judgment(packet, auditor=person, answer=answer, number=1)
    return campaign, packet, people


@pytest.mark.parametrize(
    ("answers", "decision"),
    [
        (["yes", "yes"], "yes"),
        (["no"], "no"),
        (["yes", "no"], None),
        (["yes", "unsure"], None),
        (["unsure", "unsure"], None),
        (["yes", "no", "no"], "no"),
        (["yes", "yes", "unsure"], "yes"),
        (["yes", "no", "unsure"], None),
        (["unsure", "unsure", "yes"], None),
        (["yes", "yes", "no", "unsure"], None),
    ],
)
def test_consensus_needs_majority_answers(answers, decision):
    assert majority(answers) == decision


def test_consensus_needs_enough_judgments():
    campaign, _, _ = judged_campaign("yes")

    assert not Consensus.objects.exists()
    assert undecided_packets(campaign) == []


@pytest.mark.parametrize("answers", [("yes", "no"), ("yes", "unsure"), ("unsure", "unsure")])
def test_adjudicator_decides_a_disagreement(answers):
    campaign, packet, _ = judged_campaign(*answers)
    owner = make_person(campaign.benchmark, "owner")
    assert undecided_packets(campaign) == [packet.pk]

    adjudicate(packet, by=owner, answers={"decision": "no"}, reason="The date is missing.")

    assert Consensus.objects.get().resolved
    assert decided(packet) == {"decision": "no"}
    assert undecided_packets(campaign) == []


def test_later_adjudication_supersedes_the_earlier():
    campaign, packet, _ = judged_campaign("yes", "no")
    owner = make_person(campaign.benchmark, "owner")

    adjudicate(packet, by=owner, answers={"decision": "no"}, reason="first thought")
    adjudicate(packet, by=owner, answers={"decision": "yes"}, reason="second thought")

    assert decided(packet) == {"decision": "yes"}
    assert packet.adjudications.count() == 2


def test_adjudicator_must_not_have_judged_and_needs_the_role():
    campaign, packet, (ana, _) = judged_campaign("yes", "no")

    for person in (ana, make_person(campaign.benchmark, "viewer"), make_person()):
        with pytest.raises(OptionsError, match="has not judged"):
            adjudicate(packet, by=person, answers={"decision": "yes"}, reason="because")


@pytest.mark.parametrize(
    ("answers", "reason", "message", "field"),
    [
        (("yes",), "because", "Not everyone", ""),
        (("yes", "yes"), "because", "Most auditors agree", ""),
        (("yes", "no"), "  ", "Give your reason", "reason"),
    ],
)
def test_unneeded_or_unexplained_adjudication_is_rejected(answers, reason, message, field):
    campaign, packet, _ = judged_campaign(*answers)

    with pytest.raises(OptionsError, match=message) as error:
        adjudicate(packet, by=make_person(campaign.benchmark, "owner"), answers={"decision": "yes"}, reason=reason)

    assert error.value.field == field
