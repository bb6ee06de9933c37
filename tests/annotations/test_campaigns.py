import pytest

from annotations.campaigns import close_campaign, history_of, reopen_campaign
from annotations.judgments import undo_last
from annotations.models import AuditCampaign
from studio.domain.options import OptionsError
from tests.annotations.builders import (
    judged,
    make_benchmark,
    make_campaign,
    make_decision,
    make_person,
    open_campaign,
    record_judgment,
)

pytestmark = pytest.mark.django_db


def test_opening_freezes_decisions_in_order():
    campaign, _ = make_campaign(size=2)

    assert [(p.position, p.source, p.kind, p.sampling_weight) for p in campaign.packets.all()] == [
        (1, "verdict:1", "checklist", 2.5),
        (2, "verdict:2", "checklist", 2.5),
    ]
    assert [judged(p) for p in campaign.packets.all()] == [{"decision": "yes"}, {"decision": "no"}]
    assert "sealed" not in str([p.content for p in campaign.packets.all()])
    assert [(event.verb, event.data["campaign"]) for event in campaign.benchmark.events.all()] == [
        ("audit_opened", campaign.pk)
    ]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"name": " "}, "name", "Enter a name for the audit"),
        ({"overlap": 0}, "people", "At least one person"),
        ({"overlap": 3}, "people", "3 people must judge each decision, but only 2 people are assigned"),
    ],
)
def test_invalid_campaign_is_rejected_at_its_field(changes, field, message):
    with pytest.raises(OptionsError, match=message) as error:
        make_campaign(auditors=2, **changes)

    assert error.value.field == field
    assert not AuditCampaign.objects.exists()


def test_campaign_needs_decisions():
    with pytest.raises(OptionsError, match="Finish a pilot first"):
        make_campaign(size=0)


def test_auditors_need_the_role():
    benchmark = make_benchmark()
    make_person(benchmark, "auditor")
    viewer = make_person(benchmark, "viewer", name="vera")

    with pytest.raises(OptionsError, match="vera cannot audit here"):
        open_campaign(
            benchmark, [make_decision(1)], name="x", source="", seed=1, overlap=1, scripted=False, by=None,
            auditors=[viewer],
        )  # fmt: skip


def test_closing_is_idempotent():
    campaign, (person,) = make_campaign()

    close_campaign(campaign, by=person)
    close_campaign(campaign, by=person)

    campaign.refresh_from_db()
    assert (campaign.state, campaign.closed_at is not None) == ("closed", True)
    assert campaign.benchmark.events.filter(verb="audit_closed").count() == 1


def test_closed_audit_is_reopened_with_a_reason_and_its_history_tells_what_may_not_be_blind():
    campaign, (ana,) = make_campaign(size=2)
    owner = make_person(campaign.benchmark, "owner")
    first, second = campaign.packets.all()
    record_judgment(first, auditor=ana, answer="yes", number=1)
    close_campaign(campaign, by=owner)
    with pytest.raises(OptionsError) as refused:
        reopen_campaign(campaign, by=owner, reason=" ")
    assert refused.value.field == "reason"

    reopen_campaign(campaign, by=owner, reason="One was forgotten.")

    campaign.refresh_from_db()
    undo_last(campaign, ana)
    record_judgment(first, auditor=ana, answer="no", number=3)
    record_judgment(second, auditor=ana, answer="no", number=1)
    history = history_of(campaign)
    assert (campaign.state, campaign.closed_at) == ("open", None)
    assert [event.verb for event in history.events] == ["audit_opened", "audit_closed", "audit_reopened"]
    assert (history.taken_back, history.after_results, history.was_reopened) == (1, 2, True)
    assert ana.notifications.filter(text__contains="One was forgotten.").exists()
