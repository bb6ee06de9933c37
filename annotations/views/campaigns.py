"""Audits: the list, an audit with its results, and closing it."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from annotations import reports
from annotations.auditors import FEW, oversights, own_record, records_in
from annotations.campaigns import close_campaign, history_of, instructions_html, reopen_campaign
from annotations.exports import export_csv, export_document, export_parquet, plan_document
from annotations.judgments import own_answers
from annotations.models import AuditCampaign
from annotations.seals import sealed_by, sees_results
from annotations.visibility import benchmarks_to_audit, find_campaign, is_auditor, shares_of, visible_campaigns
from studio.access import SignedInRequest, find_benchmark, may
from studio.domain.options import OptionsError
from studio.files.downloads import made_here


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
            "may_open": (planned := list(benchmarks_to_audit(request.user))),
            "people_of": [row for row in planned if slug in (None, "", row.slug)],
        },
    )


@require_GET
def campaign(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_campaign(request.user, pk)
    share = shares_of([row], request.user)[row.pk]
    shown = sees_results(request.user, row)
    context: dict[str, Any] = {
        "campaign": row,
        "share": share,
        "instructions": instructions_html(row),
        "percent": 100 * share.resolved // share.packets if share.packets else 0,
        "may_plan": may(request.user, row.benchmark, "plan_audit") and shown,
        "may_reopen": row.state == AuditCampaign.State.CLOSED and may(request.user, row.benchmark, "plan_audit"),
        "may_close": row.state == AuditCampaign.State.OPEN and may(request.user, row.benchmark, "plan_audit"),
    }
    if not shown:
        sealing = sealed_by(request.user, row)
        context |= {
            "own_answers": own_answers(row, request.user),
            "asked": is_auditor(request.user, row),
            "sealed_by": [] if row in sealing else sealing,
        }
    else:
        context |= reports.report_context(row)
        context |= {
            "chart": reports.draw_chart(context["summary"]),
            "weighted": round(100 * (context["summary"].weighted or 0), 1),
            "history": history_of(row),
            "undecided": reports.list_undecided(row, request.user),
            "disagreements": reports.list_disagreements(row),
            "void": reports.list_void(row),
        }
    return render(request, "annotations/campaign.html", context)


@require_GET
def report(request: SignedInRequest, pk: int) -> HttpResponse:
    """The figures alone, to print."""
    row = find_campaign(request.user, pk)
    if not sees_results(request.user, row):
        return redirect(row)
    return render(request, "annotations/report.html", reports.report_context(row))


@require_GET
def plan(request: SignedInRequest, pk: int) -> HttpResponse:
    """For those who plan audits, unless they judge in this one."""
    row = find_campaign(request.user, pk, "plan_audit")
    if not sees_results(request.user, row):
        raise PermissionDenied("The plan names the pilots and opens to you with the results.")
    return made_here(f"audit-{pk}-plan.json", json.dumps(plan_document(row), indent=2, ensure_ascii=False))


@require_GET
def export(request: SignedInRequest, pk: int, style: str) -> HttpResponse:
    """Everything, to those who see the results."""
    row = find_campaign(request.user, pk)
    if not sees_results(request.user, row):
        return redirect(row)
    if style == "csv":
        return made_here(f"audit-{pk}.csv", export_csv(row))
    if style == "parquet":
        return made_here(f"audit-{pk}.parquet", export_parquet(row))
    return made_here(f"audit-{pk}.json", json.dumps(export_document(row), indent=2, ensure_ascii=False))


@require_POST
def close(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_campaign(request.user, pk, "plan_audit")
    close_campaign(row, by=request.user)
    return redirect(row)


@require_POST
def reopen(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_campaign(request.user, pk, "plan_audit")
    try:
        reopen_campaign(row, by=request.user, reason=request.POST.get("reason", ""))
    except OptionsError as error:
        messages.warning(request, str(error))
    return redirect(row)


@require_GET
def mine(request: SignedInRequest) -> HttpResponse:
    context = {"record": own_record(request.user), "oversights": oversights(request.user), "few": FEW}
    return render(request, "annotations/mine.html", context)


@require_GET
def people(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug, "plan_audit")
    context = {"benchmark": benchmark, "records": records_in(benchmark, request.user), "few": FEW}
    return render(request, "annotations/people.html", context)
