"""Audits: the list, an audit with its results, and closing it."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotations import reports
from annotations.access import find_campaign
from annotations.campaigns import close_campaign
from annotations.models import AuditCampaign
from annotations.packets import STATUSES
from annotations.results import summarize
from annotations.scores import corrected_scores
from annotations.visibility import benchmarks_to_audit, sees_results, shares_of, visible_campaigns
from studio.access import SignedInRequest, may, require


@login_required
@require_GET
def campaigns(request: SignedInRequest) -> HttpResponse:
    visible = visible_campaigns(request.user)
    if slug := request.GET.get("benchmark"):
        visible = visible.filter(benchmark__slug=slug)
    rows = list(visible)
    shares = shares_of(rows, request.user)
    return render(
        request,
        "annotations/campaigns.html",
        {
            "campaigns": [(row, shares[row.pk]) for row in rows],
            "may_open": benchmarks_to_audit(request.user).exists(),
        },
    )


@login_required
@require_GET
def campaign(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_campaign(request.user, pk)
    share = shares_of([row], request.user)[row.pk]
    context = {
        "campaign": row,
        "share": share,
        "percent": 100 * share.resolved // share.packets if share.packets else 0,
        "may_close": row.state == AuditCampaign.State.OPEN and may(request.user, row.benchmark, "plan_audit"),
    }
    if sees_results(request.user, row):
        context |= {
            "summary": (summary := summarize([row])),
            "chart": reports.draw_chart(summary),
            "weighted": round(100 * (summary.weighted or 0), 1),
            "between": round(100 * (summary.between_auditors or 0), 1),
            "statuses": STATUSES,
            "scores": corrected_scores(row),
            "undecided": reports.list_undecided(row, request.user),
            "disagreements": reports.list_disagreements(row),
        }
    return render(request, "annotations/campaign.html", context)


@login_required
@require_POST
def close(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_campaign(request.user, pk)
    require(request.user, row.benchmark, "plan_audit")
    close_campaign(row, by=request.user)
    return redirect(row)
