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
from annotations.intervals import Rate
from annotations.models import AuditCampaign, Judgment
from annotations.packets import STATUSES
from annotations.results import AgreementRow, DisagreementRow, JudgeErrors, SourceRow, break_down, summarize
from annotations.scores import Interval, MetricScores, corrected_scores
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
        "not_enough_shown": _rate(summary.not_shown),
        "broken": _rate(summary.broken),
        "after_looking": _disagreement(summary.after_looking),
        "errors": [_errors(row) for row in summary.errors],
        "statuses": [
            {"judge": judge, **dict(zip(STATUSES, counts, strict=True))} for judge, counts in summary.statuses
        ],
        "scores": [
            {"agent": row.agent, **{metric: _scores(found) for metric, found in row.metrics}}
            for row in corrected_scores(campaign)
        ],
        "breakdowns": {
            row.dimension: [
                {
                    "value": each.value,
                    "checklist": _disagreement(each.checklist),
                    "intents": _disagreement(each.intents),
                    "all": _disagreement(each.total),
                    "agreement": [_agreement(own) for own in each.agreement],
                    "errors": _errors(each.errors),
                }
                for each in row.rows
            ]
            for row in break_down([campaign])
        },
        "controls": _controls(campaign),
        "causes": _causes(campaign),
        "history": _history(campaign),
        "agreement": [_agreement(row) for row in summary.agreement],
    }


def _agreement(row: AgreementRow) -> Json:
    return {
        "kind": row.label,
        "questions": row.pairs_from,
        "differing_pairs": row.differing,
        "fleiss_kappa": asdict(row.kappa),
        "krippendorff_alpha": asdict(row.alpha),
        "gwet_ac1": asdict(row.ac1),
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
        "broken": _rate(second.broken),
    }


def _controls(campaign: AuditCampaign) -> Json | None:
    """None while the audit is open, so that nobody learns which items check them."""
    if campaign.state != AuditCampaign.State.CLOSED or not campaign.controls:
        return None
    rates = control_rates([campaign])
    return {
        "gold": campaign.controls["gold"],
        "planted": campaign.controls["planted"],
        "gold_right": _rate(rates.gold),
        "planted_missed": _rate(rates.missed),
    }


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
            "gold_right": controls and _rate(controls.gold),
            "planted_missed": controls and _rate(controls.missed),
        },
    }


def _disagreement(row: DisagreementRow) -> Json:
    return {**_rate(row.rate), "too_lenient": row.too_lenient, "too_strict": row.too_strict}


def _errors(row: JudgeErrors) -> Json:
    return {
        "kind": row.label,
        "confusion": _confusion(row.confusion),
        "false_yes": _rate(row.false_yes),
        "false_no": _rate(row.false_no),
        "cohen_kappa": row.kappa and asdict(row.kappa),
    }


def _scores(scores: MetricScores | None) -> Json | None:
    if scores is None:
        return None
    return {
        "raw": _interval(scores.raw),
        "corrected": _interval(scores.corrected),
        "people_alone": _interval(scores.people),
        "sessions": scores.sessions,
        "audited": scores.audited,
        "rank": scores.rank,
        "rank_corrected": scores.rank_corrected,
    }


def _interval(interval: Interval | None) -> Json | None:
    return None if interval is None else {"value": interval.value, "low": interval.low, "high": interval.high}


def _confusion(table: Confusion) -> Json:
    return {
        "judge_yes_people_yes": table.both_yes,
        "judge_yes_people_no": table.too_lenient,
        "judge_no_people_yes": table.too_strict,
        "judge_no_people_no": table.both_no,
    }


def _rate(rate: Rate) -> Json:
    return {"count": rate.count, "n": rate.n, "rate": rate.value, "low": rate.low, "high": rate.high}
