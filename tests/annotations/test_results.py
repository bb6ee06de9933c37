import pytest

from annotations.results import ResolvedDecision, summarize, weighted_rate
from tests.annotations.builders import (
    make_benchmark,
    make_campaign,
    make_decision,
    make_person,
    open_campaign,
    record_judgment,
)

pytestmark = pytest.mark.django_db


def answer(campaign, person, *answers):
    for packet, choice in zip(campaign.packets.all(), answers, strict=False):
        record_judgment(packet, auditor=person, answer=choice, number=1)


def test_disagreement_is_counted_by_kind():
    benchmark = make_benchmark()
    ana = make_person(benchmark, "auditor")
    kinds = [
        ("checklist", True),
        ("checklist", False),
        ("checklist", True),
        ("satisfaction", True),
        ("follow_up", False),
    ]
    decisions = [make_decision(n, judge=judge, kind=kind) for n, (kind, judge) in enumerate(kinds)]
    campaign = open_campaign(benchmark, decisions, name="x", source="", seed=1, overlap=1, scripted=False, by=None)

    answer(campaign, ana, "no", "yes", "unsure", "yes")

    summary = summarize([campaign])
    counts = {row.label: (row.rate.count, row.rate.n, row.too_strict, row.too_lenient) for row in summary.rows}
    assert counts == {
        "Comp · checklist": (2, 2, 1, 1),
        "Proc · hidden intents": (0, 1, 0, 0),
        "Intent satisfied": (0, 1, 0, 0),
        "Intent asked for": (0, 0, 0, 0),
    }
    assert (summary.total.rate.count, summary.total.rate.n, summary.packets) == (2, 3, 5)
    assert (summary.undecided, summary.waiting) == (1, 1)


def test_weighted_rate_uses_sampling_weights():
    resolved = [
        ResolvedDecision("checklist", "yes", "no", weight=30),
        ResolvedDecision("checklist", "yes", "yes", weight=10),
    ]

    assert (weighted_rate(resolved), weighted_rate([])) == (0.75, None)


def test_agreement_uses_packets_with_several_judgments():
    campaign, (ana, ben) = make_campaign(size=4, overlap=2, auditors=2)

    answer(campaign, ana, "yes", "yes", "no", "no")
    answer(campaign, ben, "yes", "no", "no")

    [row] = summarize([campaign]).agreement
    assert (row.kind, row.questions, row.differing_pairs) == ("Checklist", 3, 1 / 3)
    assert row.krippendorff_alpha.value == pytest.approx(4 / 9)


@pytest.mark.slow
def test_agreement_is_told_by_kind_of_question_and_never_pooled():
    """Two people always say yes of the one kind and nearly always no of the other: pooled, they seem to agree."""
    benchmark = make_benchmark()
    ana, ben = (make_person(benchmark, "auditor") for _ in range(2))
    kinds = ["checklist"] * 4 + ["satisfaction"] * 4
    decisions = [make_decision(n, kind=kind) for n, kind in enumerate(kinds)]
    campaign = open_campaign(benchmark, decisions, name="x", source="", seed=1, overlap=2, scripted=False, by=None)
    by_kind = {
        "checklist": [("yes", "no"), ("no", "yes"), ("yes", "yes"), ("yes", "yes")],
        "satisfaction": [("yes", "no"), ("no", "yes"), ("no", "no"), ("no", "no")],
    }
    for packet in campaign.packets.all():
        for person, choice in zip((ana, ben), by_kind[packet.kind].pop(), strict=True):
            record_judgment(packet, auditor=person, answer=choice, number=1)

    summary = summarize([campaign])
    assert {row.kind: round(row.fleiss_kappa.value or 0, 2) for row in summary.agreement} == {
        "Checklist": -0.33,
        "Intent satisfied": -0.33,
    }
    assert {row.label: row.kappa is None for row in summary.errors} == {
        "Comp · checklist": False,
        "Proc · hidden intents": False,
        "Intent satisfied": False,
        "Intent asked for": True,
        "All": True,
    }


def test_summary_has_a_constant_number_of_queries(django_assert_num_queries):
    campaigns = [make_campaign(size=2)[0] for _ in range(3)]

    with django_assert_num_queries(7):
        summarize(campaigns[:1])
    with django_assert_num_queries(7):
        summarize(campaigns)
