"""Drawing items for people to type the known answers of."""

from __future__ import annotations

import secrets

from annotations.campaigns import CampaignError
from annotations.gold import add_gold_item
from annotations.models import AuditCampaign, GoldItem
from annotations.sampling import draw_sample
from evaluation.audits.campaigns import model_names, source_of
from evaluation.audits.freezing import draw_decisions, freeze_sessions
from evaluation.audits.rounds import choose_rounds
from evaluation.audits.sessions import as_candidate, auditable_sessions
from evaluation.models import Pilot
from studio.models import User


def draw_gold_item(pilot: Pilot, unit: str, *, by: User) -> GoldItem:
    """Any session or decision of the pilot that is no gold item yet. Raises CampaignError."""
    used = set(GoldItem.objects.filter(benchmark=pilot.benchmark).values_list("source", flat=True))
    rounds = choose_rounds([pilot], None)
    names, seed = model_names(pilot), secrets.randbelow(2**31)
    if unit == AuditCampaign.Unit.SESSION:
        sessions = {row.source: row for row in auditable_sessions([pilot], rounds) if row.source not in used}
        drawn = draw_sample(map(as_candidate, sessions.values()), 1, seed)
        frozen, _ = freeze_sessions([sessions[row.key] for row in drawn], drawn, names)
    else:
        frozen, _ = draw_decisions([pilot], rounds, 1, seed, names, without=used)
    if not frozen:
        raise CampaignError("pilot", "Everything in this pilot is such an item already. Choose another pilot.")
    return add_gold_item(pilot.benchmark, frozen[0], source_of(pilot), by=by)
