import pytest

from annotations.campaigns import CampaignError, close_campaign, open_campaign
from annotations.models import AuditCampaign
from tests.annotations.builders import make_benchmark, make_campaign, make_decision, make_person

pytestmark = pytest.mark.django_db


def test_opening_freezes_decisions_in_order():
    campaign, _ = make_campaign(size=2)

    assert [(p.position, p.source, p.kind, p.sampling_weight) for p in campaign.packets.all()] == [
        (1, "verdict:1", "checklist", 2.5),
        (2, "verdict:2", "checklist", 2.5),
    ]
    assert [p.sealed["decision"] for p in campaign.packets.all()] == [True, False]
    assert "sealed" not in str([p.content for p in campaign.packets.all()])
    assert [(event.verb, event.data["campaign"]) for event in campaign.benchmark.events.all()] == [
        ("audit_opened", campaign.pk)
    ]


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"name": " "}, "name", "Enter a name for the audit"),
        ({"overlap": 0}, "overlap", "At least one person"),
        ({"overlap": 3}, "overlap", "3 people must judge each decision, but only 2 people are assigned"),
    ],
)
def test_invalid_campaign_is_rejected_at_its_field(changes, field, message):
    with pytest.raises(CampaignError, match=message) as error:
        make_campaign(auditors=2, **changes)

    assert error.value.field == field
    assert not AuditCampaign.objects.exists()


def test_campaign_needs_decisions():
    with pytest.raises(CampaignError, match="Finish a pilot first"):
        make_campaign(size=0)


def test_auditors_need_the_role():
    benchmark = make_benchmark()
    make_person(benchmark, "auditor")
    viewer = make_person(benchmark, "viewer", name="vera")

    with pytest.raises(CampaignError, match="vera cannot audit here"):
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
