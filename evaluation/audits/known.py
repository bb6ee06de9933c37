"""Items for people to type the known answers of: drawing them, and who may see them."""

from __future__ import annotations

import secrets

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from annotations.gold import add_gold_item
from annotations.models import AuditCampaign, GoldItem
from annotations.sampling import draw_sample
from evaluation.audits.blindness import BlindPilotError, closed_pilots
from evaluation.audits.campaigns import auditable_pilots, model_names, pilot_keys, source_of
from evaluation.audits.freezing import draw_decisions, freeze_sessions
from evaluation.audits.rounds import choose_rounds
from evaluation.audits.sessions import as_candidate, auditable_sessions
from evaluation.models import Pilot
from studio.access import benchmarks_for, require
from studio.domain.options import OptionsError
from studio.models import Benchmark, User


def pilots_to_draw_from(benchmark: Benchmark, user: User) -> QuerySet[Pilot]:
    return auditable_pilots(benchmark).exclude(pk__in=closed_pilots(user)).order_by("-number")


def gold_items(benchmark: Benchmark, user: User) -> list[GoldItem]:
    """Without those of pilots that are closed to the person, who judges them blind."""
    closed = closed_pilots(user)
    items = GoldItem.objects.filter(benchmark=benchmark).select_related("by")
    return [row for row in items if not pilot_keys([row.origin]) & closed]


def find_gold_item(user: User, pk: int) -> GoldItem:
    """Raises Http404, PermissionDenied."""
    items = GoldItem.objects.filter(benchmark__in=benchmarks_for(user)).select_related("benchmark", "by")
    item = get_object_or_404(items, pk=pk)
    require(user, item.benchmark, "plan_audit")
    if pilot_keys([item.origin]) & closed_pilots(user):
        raise BlindPilotError("The pilot of this item")
    return item


def draw_gold_item(pilot: Pilot, unit: str, *, by: User) -> GoldItem:
    """Any session or decision of the pilot that is no gold item yet. Raises OptionsError."""
    used = set(GoldItem.objects.filter(benchmark=pilot.benchmark).values_list("source", flat=True))
    rounds = choose_rounds([pilot])
    names, seed = model_names(pilot), secrets.randbelow(2**31)
    if unit == AuditCampaign.Unit.SESSION:
        sessions = {row.source: row for row in auditable_sessions([pilot], rounds) if row.source not in used}
        drawn = draw_sample(map(as_candidate, sessions.values()), 1, seed)
        frozen, _ = freeze_sessions([sessions[row.key] for row in drawn], drawn, names)
    else:
        frozen, _ = draw_decisions([pilot], rounds, 1, seed, names, without=used)
    if not frozen:
        raise OptionsError("pilot", "Everything in this pilot is such an item already. Choose another pilot.")
    return add_gold_item(pilot.benchmark, frozen[0], source_of(pilot), by=by)
