"""Seals: from whom is kept what judges and colleagues said of judged content, and who has seen it.

An audit seals what it was drawn from, wherever that is shown, to everybody whom it asks: from its opening until it is
closed, or until they open its results, which makes their answers final. Until then they may still give, skip or take
back one; that they have answered everything, gave up the role, or left the benchmark, opens nothing.

Everything that shows a session, a score, an answer, or a figure with some of them in it asks ``sealed_to``, which knows
content by the names of what it came from. No figure is over so many that it may be shown: one answer, changed, shows in
it. Whoever sees some of it is recorded; what they answer afterwards counts in nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotations.models import AuditCampaign, Judgment, Opening, Seat
from studio.access import ALLOWED, AnyUser
from studio.models import Membership, User

AUDITORS = ALLOWED["audit"]


def sealing(person: User) -> QuerySet[AuditCampaign]:
    """Audits that are sealed to the person: open ones that ask them, or did, and of which they have seen nothing."""
    named = AuditCampaign.auditors.through.objects.filter(auditcampaign=OuterRef("pk"))
    role = Membership.objects.filter(user=person.pk, role__in=AUDITORS, benchmark=OuterRef("benchmark"))
    is_asked = Exists(role) & (~Exists(named) | Exists(named.filter(user=person.pk)))
    seats = Seat.objects.filter(packet__campaign=OuterRef("pk"), auditor=person.pk)
    judgments = Judgment.objects.filter(packet__campaign=OuterRef("pk"), auditor=person.pk)
    was_asked = Q(asked__contains=[person.pk]) | Exists(seats) | Exists(judgments)
    seen = Opening.objects.filter(campaign=OuterRef("pk"), person=person.pk)
    return AuditCampaign.objects.filter(Q(is_asked) | was_asked, ~Exists(seen), state=AuditCampaign.State.OPEN)


def sealed_to(person: AnyUser | None) -> frozenset[str]:
    """Names of the audits that are sealed to the person, and of what these were drawn from."""
    if not isinstance(person, User):
        return frozenset()
    return frozenset(name for row in sealing(person) for name in names_of(row))


def names_of(campaign: AuditCampaign) -> set[str]:
    """Its own, and those of what it was drawn from, control items included."""
    return {f"audit:{campaign.pk}", *campaign.source.split(), *campaign.controls.get("sources", ())}


def results_open(campaigns: Collection[AuditCampaign], person: User) -> set[int]:
    """Keys of those whose results the person may see: nothing that they are about is sealed to them, by whatever
    audit."""
    sealed = sealed_to(person)
    return {row.pk for row in campaigns if sealed.isdisjoint(names_of(row))}


def sealed_by(person: User, campaign: AuditCampaign) -> list[AuditCampaign]:
    """The audits that keep its results from the person."""
    return [row for row in sealing(person) if not names_of(row).isdisjoint(names_of(campaign))]


def may_see_results(person: User, campaign: AuditCampaign) -> bool:
    return campaign.pk in results_open([campaign], person)


def sees_results(person: User, campaign: AuditCampaign) -> bool:
    """Whether the results may be shown to the person, which is recorded then."""
    allowed = may_see_results(person, campaign)
    if allowed:
        record_openings(person, [campaign], "results")
    return allowed


def has_opened(person: User, campaign: AuditCampaign) -> bool:
    """Whether the person has seen something that the audit seals: they neither judge nor take back anything in it."""
    return campaign.pk in opened_by(person, [campaign])


def opened_by(person: User, campaigns: Collection[AuditCampaign]) -> set[int]:
    """Keys of those of which they have seen something."""
    return set(Opening.objects.filter(person=person.pk, campaign__in=campaigns).values_list("campaign", flat=True))


def record_openings(person: User, campaigns: Iterable[AuditCampaign], what: str) -> None:
    """The first thing that a person sees of each. ``what``: ``results``, ``pilot:12``."""
    rows = list(campaigns)
    opened = opened_by(person, rows) if rows else set()
    Opening.objects.bulk_create(
        [Opening(campaign=row, person=person, what=what) for row in rows if row.pk not in opened], ignore_conflicts=True
    )


class Openings:
    """Who saw something of audits, and when first."""

    def __init__(self, campaign_ids: Collection[int]) -> None:
        rows = Opening.objects.filter(campaign__in=campaign_ids).values_list("campaign_id", "person_id", "at")
        self._first = {(campaign, person): at for campaign, person, at in rows}

    def before(self, at: datetime, campaign: int, auditor: int) -> bool:
        """Whether the auditor had seen something by then."""
        first = self._first.get((campaign, auditor))
        return first is not None and first < at
