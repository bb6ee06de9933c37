"""Everything of an audit as data: its plan, which can be published before the first answer, and its answers."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from annotations.campaigns import CampaignPlan, validate_plan
from annotations.decided import audited_questions
from annotations.figures import campaign_figures
from annotations.models import AuditCampaign, Packet
from annotations.sampling import ALIKENESS, half_width
from annotations.sources import model_auditors
from annotations.visibility import given_answers, newest_judgments
from studio.domain.csv_files import write_csv

Json = dict[str, Any]
COLUMNS = (
    "packet", "source", "stratum", "weight", "question", "kind", "subject", "judge", "majority", "final",
    "auditor", "answer", "comment", "confidence", "cause", "milliseconds",
    "truth",
)  # fmt: skip
NUMBERS = {"packet": "int64", "weight": "float64", "milliseconds": "int64", "truth": "bool_"}
"""Types of columns in Parquet that are no texts."""


def plan_document(campaign: AuditCampaign) -> Json:
    """What was drawn and how; nothing of what the judge or people decided."""
    packets = list(campaign.packets.filter(control="", first=None).order_by("position"))
    second = campaign.packets.filter(control="").exclude(first=None)
    return {
        "campaign": campaign.pk,
        "benchmark": campaign.benchmark.slug,
        "name": campaign.name,
        "opened_at": campaign.created_at.isoformat(),
        "source": campaign.source.split(),
        "rounds": campaign.rounds,
        "unit": campaign.unit,
        "strata": campaign.strata,
        "seed": campaign.seed,
        "people": campaign.overlap,
        "due": campaign.due and campaign.due.isoformat(),
        "auditors": sorted(user.get_username() for user in campaign.auditors.all()) or "all",
        "instructions": campaign.instructions,
        "own_tasks": campaign.own_tasks,
        "packets": len(packets),
        "asked_in_truth": sorted(second.values_list("source", flat=True))
        if packets and not packets[0].truth
        else "all",
        "judgments_wanted": campaign.packets.count() * campaign.overlap,
        "controls": {name: campaign.controls.get(name, 0) for name in ("gold", "planted")},
        "sizes": _sizes(campaign, packets),
        "sample": [_drawn(campaign, packet, position) for position, packet in enumerate(packets, start=1)],
    }


@dataclass(frozen=True)
class PlanOutline:
    """What an audit comes to, in numbers."""

    packets: int
    judgments: int
    questions: int
    """Asked in one round over all packets, without control items."""
    half_width: float
    """In points, of the rate of disagreement, if that is about 3 %."""
    second: int
    """How many are asked again, in truth, with the whole session."""
    second_half_width: float | None
    people: int
    each: int
    """Packets per person, if everybody takes an even share."""
    sizes: Mapping[str, int]
    """Packets by stratum; empty where the strata name the judge's answer."""
    controls: Mapping[str, int]


def outline_of(plan: CampaignPlan) -> PlanOutline:
    """Raises OptionsError if it cannot be opened."""
    people = len(validate_plan(plan))
    drawn = [row for row in plan.decisions if not row.control]
    second = len([row for row in plan.second if not row.control])
    whole = plan.unit == AuditCampaign.Unit.SESSION
    asked = sum(len({question.key for question in row.content.questions} - row.known.keys()) for row in drawn)
    judgments = (len(plan.decisions) + len(plan.second)) * plan.overlap
    return PlanOutline(
        packets=len(drawn),
        judgments=judgments,
        questions=asked,
        half_width=round(100 * half_width(max(1, round(asked / ALIKENESS) if whole else asked)), 1),
        second=second,
        second_half_width=round(100 * half_width(second), 1) if second else None,
        people=people,
        each=math.ceil(judgments / people),
        sizes=dict(sorted(Counter(row.stratum for row in drawn).items())) if whole else {},
        controls={name: plan.controls[name] for name in ("gold", "planted") if plan.controls.get(name)},
    )


def _sizes(campaign: AuditCampaign, packets: list[Packet]) -> Json:
    """By stratum; those of single decisions name the judge's answer, so that only their number is told."""
    if campaign.unit == AuditCampaign.Unit.SESSION:
        return dict(sorted(Counter(packet.stratum for packet in packets).items()))
    return {"strata": len({packet.stratum for packet in packets})}


def _drawn(campaign: AuditCampaign, packet: Packet, position: int) -> Json:
    """Its position among those drawn, so that a gap does not tell which packets are control items."""
    found: Json = {"position": position, "source": packet.source, "kind": packet.kind}
    if campaign.unit == AuditCampaign.Unit.SESSION:
        found |= {"stratum": packet.stratum, "weight": packet.sampling_weight}
        found["questions"] = [row["key"] for row in packet.content["questions"] if row["key"] not in packet.known]
    return found


def export_document(campaign: AuditCampaign) -> Json:
    return {
        "plan": plan_document(campaign),
        "report": campaign_figures(campaign),
        "answers": [dict(zip(COLUMNS, row, strict=True)) for row in answer_rows(campaign)],
        "model_answers": list(_model_answers(campaign)),
    }


def _model_answers(campaign: AuditCampaign) -> Iterator[Json]:
    """After majority over a model's samples; apart from people's, and without control items."""
    known = dict(campaign.packets.filter(control="").values_list("source", "known"))
    for auditor in model_auditors([campaign]):
        for source in sorted(known.keys() & auditor.answers.keys()):
            for key, answer in auditor.answers[source].items():
                if answer and key not in known[source]:
                    yield {"model": auditor.name, "source": source, "question": key, "answer": answer}


def export_csv(campaign: AuditCampaign) -> str:
    """One line per answer of each person to each question, with the judge's and the final one beside it."""
    return write_csv([COLUMNS, *answer_rows(campaign)])


def export_parquet(campaign: AuditCampaign) -> bytes:
    """The same rows as in the CSV, as written by people and agents: nothing takes these texts for formulas."""
    import pyarrow  # for this alone: most processes never need it
    from pyarrow import parquet

    rows = list(answer_rows(campaign))
    columns = zip(*rows, strict=True) if rows else ((),) * len(COLUMNS)
    arrays = [
        pyarrow.array(
            values if name in NUMBERS else [None if value is None else str(value) for value in values],
            type=getattr(pyarrow, NUMBERS.get(name, "string"))(),
        )
        for name, values in zip(COLUMNS, columns, strict=True)
    ]
    out = io.BytesIO()
    parquet.write_table(pyarrow.table(dict(zip(COLUMNS, arrays, strict=True))), out)
    return out.getvalue()


def answer_rows(campaign: AuditCampaign) -> Iterator[tuple[Any, ...]]:
    packets = campaign.packets.in_bulk()
    given = given_answers([campaign.pk])
    judgments = newest_judgments([campaign.pk]).select_related("auditor")
    newest = {(row.packet_id, row.auditor_id): row for row in judgments}
    for question in audited_questions([campaign.pk]):
        packet = packets[question.packet]
        start = (
            packet.position, packet.source, packet.stratum, packet.sampling_weight, question.key, question.kind,
            question.subject, question.judge, question.majority, question.final,
        )  # fmt: skip
        answers = given.get(packet.pk, {})
        for auditor in sorted(answers):
            row = newest[packet.pk, auditor]
            yield (
                *start,
                row.auditor.get_username(),
                answers[auditor].get(question.key),
                row.comment,
                row.confidence,
                row.cause,
                row.milliseconds,
                question.truth,
            )
        if not answers:
            yield *start, *[None] * 6, question.truth
