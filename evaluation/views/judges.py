"""How judges do on what people decided in audits."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET

from evaluation.audits.blindness import require_judges_open
from evaluation.audits.gate import judge_rows
from evaluation.audits.regression import regression_cases
from studio.access import SignedInRequest, find_benchmark, require


@login_required
@require_GET
def judges(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    require(request.user, benchmark, "plan_audit")
    require_judges_open(request.user, benchmark)
    cases = regression_cases(benchmark)
    request.room = "audits"
    rows = judge_rows(benchmark, cases)
    in_use = any(row.in_use for row in rows)
    context = {"benchmark": benchmark, "cases": cases, "rows": rows, "in_use": in_use}
    return render(request, "evaluation/audits/judges.html", context)


urlpatterns = [path("audits/judges/<slug:slug>/", judges, name="judges")]
