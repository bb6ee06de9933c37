"""Every figure of an audit's results page as plain data."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from django.db.models import Count, Q

from annotations.agreement import Confusion
from annotations.campaigns import history_of
from annotations.controls import ControlRates, control_rates, control_rates_of_models
from annotations.decided import audited_questions
from annotations.models import AuditCampaign, Judgment
from annotations.packets import STATUSES
from annotations.results import DisagreementRow, JudgeErrors, SourceRow, break_down, summarize
from annotations.scores import corrected_scores
from annotations.visibility import newest_judgments

Json = dict[str, Any]
IN_TRUTH, GIVEN = "in truth", "given what judges were shown"
"""The two questions."""


def campaign_figures(campaign: AuditCampaign) -> Json:
    summary = summarize([campaign])
    models = [row.model for row in summary.sources if row.model]
    controls = {auditor.name: rates for auditor, rates in control_rates_of_models(campaign, models)}
    counts = campaign.packets.filter(control="").aggregate(
        answered=Count("seats", filter=Q(seats__judged=True), distinct=True),
        skipped=Count("judgments", filter=Q(judgments__state=Judgment.State.SKIPPED), distinct=True),
    )
    return {
        "campaign": campaign.pk,
        "benchmark": campaign.benchmark.slug,
        "name": campaign.name,
        "state": campaign.state,
        "source": campaign.source,
        "unit": campaign.unit,
        "people": campaign.overlap,
        "seed": campaign.seed,
        "scripted": campaign.scripted,
        "packets": summary.packets,
        "judgments_wanted": summary.packets * campaign.overlap,
        "judgments": counts["answered"],
        "skips": counts["skipped"],
        "resolved": summary.packets - summary.waiting,
        "undecided": summary.undecided,
        "waiting": summary.waiting,
        "table6": [_source(row, controls.get(row.source), truth=summary.truth) for row in summary.sources],
        "question": IN_TRUTH if summary.truth else GIVEN,
        "in_truth": _second(campaign),
        "disagreement": {
            "all": _disagreement(summary.total),
            "weighted": summary.weighted,
            "by_kind": [{"kind": row.label, **_disagreement(row)} for row in summary.rows],
        },
        "not_enough_shown": summary.not_shown.document(),
        "broken": summary.broken.document(),
        "after_looking": _disagreement(summary.after_looking),
        "errors": [_errors(row) for row in summary.errors],
        "statuses": [
            {"judge": judge, **dict(zip(STATUSES, counts, strict=True))} for judge, counts in summary.statuses
        ],
        "scores": [asdict(row) for row in corrected_scores(campaign)],
        "breakdowns": {
            row.dimension: [
                {
                    "value": each.value,
                    "checklist": _disagreement(each.checklist),
                    "intents": _disagreement(each.intents),
                    "all": _disagreement(each.total),
                    "agreement": [asdict(own) for own in each.agreement],
                    "errors": _errors(each.errors),
                }
                for each in row.rows
            ]
            for row in break_down([campaign])
        },
        "controls": _controls(campaign),
        "causes": _causes(campaign),
        "history": _history(campaign),
        "agreement": [asdict(row) for row in summary.agreement],
    }


def _second(campaign: AuditCampaign) -> Json | None:
    """Of a subsample asked again; None: the other question alone was asked."""
    second = summarize([campaign], truth=True)
    if not second.packets or not campaign.packets.filter(first__isnull=False).exists():
        return None
    return {
        "packets": second.packets,
        "undecided": second.undecided,
        "waiting": second.waiting,
        **_disagreement(second.total),
        "broken": second.broken.document(),
    }


def _controls(campaign: AuditCampaign) -> Json | None:
    """None while the audit is open, so that nobody learns which items check them."""
    if campaign.state != AuditCampaign.State.CLOSED or not campaign.controls:
        return None
    return {name: campaign.controls[name] for name in ("gold", "planted")} | control_rates([campaign]).document()


def _causes(campaign: AuditCampaign) -> Json:
    """How often each was named; by adjudicators, of their newest decisions."""
    adjudicated = {(row.packet, row.cause) for row in audited_questions([campaign.pk]) if row.cause}
    return {
        "adjudicators": Counter(cause for _, cause in adjudicated),
        "auditors": Counter(filter(None, newest_judgments([campaign.pk]).values_list("cause", flat=True))),
    }


def _history(campaign: AuditCampaign) -> Json:
    history = history_of(campaign)
    return {
        "events": [
            {"what": event.verb, "at": event.at.isoformat(), "by": event.actor and event.actor.get_username()}
            for event in history.events
        ],
        "taken_back": history.taken_back,
        "answers_after_results": history.after_results,
        "openings": [
            {"by": row.person.get_username(), "what": row.what, "at": row.at.isoformat()} for row in history.openings
        ],
        "answers_after_opening": history.after_opening,
    }


def _source(row: SourceRow, controls: ControlRates | None, *, truth: bool) -> Json:
    """``controls``: of a model."""
    return {
        "source": row.source if row.model else row.source.lower(),
        "question": IN_TRUTH if truth and not row.model else GIVEN,
        "checklist": _disagreement(row.checklist),
        "intents": _disagreement(row.intents),
        "no_majority": row.open,
        "model": row.model
        and {
            "samples": row.model.samples,
            "scripted": row.model.scripted,
            "waiting": row.model.waiting,
            "stopped": row.model.stopped,
            "estimated_cost": row.model.estimate,
            "cost": row.model.cost,
            "judges_itself": row.model.judges_itself,
            **(controls.document() if controls else {"gold_right": None, "planted_missed": None}),
        },
    }


def _disagreement(row: DisagreementRow) -> Json:
    return {**row.rate.document(), "too_lenient": row.too_lenient, "too_strict": row.too_strict}


def _errors(row: JudgeErrors) -> Json:
    return {
        "kind": row.label,
        "confusion": _confusion(row.confusion),
        "false_yes": row.false_yes.document(),
        "false_no": row.false_no.document(),
        "cohen_kappa": row.kappa and asdict(row.kappa),
    }


def _confusion(table: Confusion) -> Json:
    return {
        "judge_yes_people_yes": table.both_yes,
        "judge_yes_people_no": table.too_lenient,
        "judge_no_people_yes": table.too_strict,
        "judge_no_people_no": table.both_no,
    }
