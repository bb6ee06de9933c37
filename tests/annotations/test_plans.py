"""What an audit tells its auditors before they begin: by when, and by which rules of its own."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from annotations.campaigns import close_campaign
from annotations.exports import plan_document
from annotations.models import AuditCampaign
from studio.domain.options import OptionsError
from studio.models import Notification
from tests.annotations.builders import make_campaign, make_person, record_judgment

pytestmark = pytest.mark.django_db
RULE = "A deadline counts only with its **date**.\n\n- “by Friday, 6 June”: yes\n- <b onclick=x>soon</b>: no"


def in_days(number: int) -> dt.date:
    return timezone.localdate() + dt.timedelta(days=number)


def client_of(user) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.mark.slow
@pytest.mark.parametrize(
    ("days", "text"), [(9, "9 days left"), (1, "1 day left"), (0, "due today"), (-1, "overdue by 1 day"), (None, "")]
)
def test_auditors_see_the_days_left_on_every_page_of_the_audit(days: int | None, text: str):
    campaign, (ana,) = make_campaign()
    AuditCampaign.objects.update(due=None if days is None else in_days(days))
    client = client_of(ana)

    pages = ["/audits/", f"/audits/{campaign.pk}/", f"/audits/{campaign.pk}/judge/", "/"]
    shown = [client.get(page, follow=True).content.decode() for page in pages]

    if text:
        assert [text in page for page in shown] == [True] * 4
    else:
        assert not [page for page in shown if "days left" in page or "due today" in page or "overdue" in page]
    close_campaign(campaign, by=ana)
    assert "overdue" not in client.get("/audits/").content.decode()


def test_due_day_is_in_the_message_and_the_plan_and_not_in_the_past():
    campaign, (ana,) = make_campaign(due=in_days(3), instructions=RULE, by=make_person(name="planner"))

    told = Notification.objects.get(user=ana)
    plan = plan_document(campaign)

    assert f"{in_days(3).day} {in_days(3):%B %Y}." in told.text
    assert (plan["due"], plan["instructions"], plan["auditors"]) == (in_days(3).isoformat(), RULE, "all")
    with pytest.raises(OptionsError, match="today or a later day") as refused:
        make_campaign(due=in_days(-1))
    assert refused.value.field == "due"


def test_instructions_come_before_the_first_packet_and_stay_at_hand():
    campaign, (ana,) = make_campaign(instructions=RULE)
    client = client_of(ana)

    first = client.get(f"/audits/{campaign.pk}/judge/", follow=True)
    begun = client.get(f"/audits/{campaign.pk}/judge/?begin=1", follow=True)
    record_judgment(campaign.packets.get(position=1), auditor=ana, answer="yes", number=1)
    later = client.get(f"/audits/{campaign.pk}/judge/", follow=True)

    assert first.redirect_chain[-1][0] == f"/audits/{campaign.pk}/#instructions"
    for page in (first, begun, later):
        text = page.content.decode()
        assert "<strong>date</strong>" in text
        assert "<li>“by Friday, 6 June”: yes</li>" in text
        assert "<b onclick" not in text
    assert 'name="answer" value="yes"' in begun.content.decode()
    assert '<details class="fold small" open>' in begun.content.decode()
    assert '<details class="fold small" open>' not in later.content.decode()
