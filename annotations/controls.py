"""How people do on control items: gold items, whose answer is known, and planted ones, which ask for something that is
not there beside a verdict that says it is. Whoever says yes to those did not look.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.intervals import Rate, clustered_wilson
from annotations.models import AuditCampaign, Packet
from annotations.packets import CREDITED
from annotations.sources import ModelAuditor
from annotations.visibility import control_answers


@dataclass(frozen=True)
class ControlAnswer:
    auditor: int
    control: str
    """A ``Packet.Control``."""
    hit: bool
    """Of a gold item: as known. Of a planted one: the person saw through it."""


@dataclass(frozen=True)
class ControlRates:
    gold: Rate
    """Answers as known."""
    missed: Rate
    """Planted verdicts that people agreed with: the estimate of rubber-stamping."""

    def document(self) -> dict[str, Any]:
        return {"gold_right": self.gold.document(), "planted_missed": self.missed.document()}


def control_rates(campaigns: Collection[AuditCampaign]) -> ControlRates:
    """Over all auditors of the audits that are closed; before that nobody is told."""
    return _rates(answers_to_controls(campaigns))


def control_rates_by_auditor(campaigns: Collection[AuditCampaign]) -> Mapping[int, ControlRates]:
    by_auditor: dict[int, list[ControlAnswer]] = defaultdict(list)
    for row in answers_to_controls(campaigns):
        by_auditor[row.auditor].append(row)
    return {auditor: _rates(rows) for auditor, rows in by_auditor.items()}


def control_rates_of_models(
    campaign: AuditCampaign, auditors: Sequence[ModelAuditor]
) -> list[tuple[ModelAuditor, ControlRates]]:
    """Models are asked the same control items as people."""
    if not _tells(campaign):
        return []
    rates = [(auditor, _rates_of_model(campaign, auditor)) for auditor in auditors]
    return [(auditor, found) for auditor, found in rates if found.gold.n or found.missed.n]


def _tells(campaign: AuditCampaign) -> bool:
    """Not before it is closed, so that nobody learns which items check them."""
    return campaign.state == AuditCampaign.State.CLOSED and bool(campaign.controls)


def _rates_of_model(campaign: AuditCampaign, auditor: ModelAuditor) -> ControlRates:
    packets = Packet.objects.filter(campaign=campaign).exclude(known={}).order_by("pk")
    rows = []
    for pk, source, control, known in packets.values_list("pk", "source", "control", "known"):
        answers = auditor.answers.get(source, {})
        rows += [
            ControlAnswer(pk, control or Packet.Control.PLANTED, _hits(control, answers[key], right))
            for key, right in known.items()
            if answers.get(key)
        ]
    return _rates(rows)


def answers_to_controls(campaigns: Collection[AuditCampaign]) -> list[ControlAnswer]:
    closed = [row.pk for row in campaigns if _tells(row)]
    if not closed:
        return []
    given = control_answers(closed)
    packets = Packet.objects.filter(campaign__in=closed).exclude(known={}).order_by("pk")
    rows = []
    for pk, control, known in packets.values_list("pk", "control", "known"):
        for auditor, answers in sorted(given.get(pk, {}).items()):
            for key, right in known.items():
                if key in answers:
                    hit = _hits(control, answers[key], right)
                    rows.append(ControlAnswer(auditor, control or Packet.Control.PLANTED, hit))
    return rows


def _hits(control: str, answer: str, right: str) -> bool:
    return answer == right if control == Packet.Control.GOLD else answer not in CREDITED


def _rates(rows: Collection[ControlAnswer]) -> ControlRates:
    gold = [(row.auditor, row.hit) for row in rows if row.control == Packet.Control.GOLD]
    planted = [(row.auditor, not row.hit) for row in rows if row.control == Packet.Control.PLANTED]
    return ControlRates(gold=clustered_wilson(gold), missed=clustered_wilson(planted))
