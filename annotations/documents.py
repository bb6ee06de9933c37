"""The report of an audit, for its page and for print."""

from __future__ import annotations

from typing import Any

from annotations.breakdowns import break_down
from annotations.controls import control_rates, control_rates_of_models
from annotations.models import AuditCampaign
from annotations.packets import STATUSES
from annotations.results import summarize
from annotations.scores import corrected_scores
from studio.files.previews.markup import markdown


def instructions_html(row: AuditCampaign) -> str:
    """Safe; empty without instructions of the audit's own."""
    return markdown(row.instructions) if row.instructions else ""


def report_context(row: AuditCampaign) -> dict[str, Any]:
    summary = summarize([row])
    return {
        "campaign": row,
        "summary": summary,
        "between": round(100 * (summary.between_auditors or 0), 1),
        "statuses": STATUSES,
        "scores": corrected_scores(row),
        "breakdowns": [each for each in break_down([row]) if len(each.rows) > 1 or each.dimension == "grader"],
        "controls": control_rates([row]),
        "model_controls": control_rates_of_models(row, [each.model for each in summary.sources if each.model]),
    }
