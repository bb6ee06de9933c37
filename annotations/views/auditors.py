"""How auditors judge: one's own page, and everybody's for those who plan audits."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotations.auditors import FEW, oversights, own_record, records_in
from studio.access import SignedInRequest, find_benchmark, require


@login_required
@require_GET
def mine(request: SignedInRequest) -> HttpResponse:
    context = {"record": own_record(request.user), "oversights": oversights(request.user), "few": FEW}
    return render(request, "annotations/mine.html", context)


@login_required
@require_GET
def people(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug)
    require(request.user, benchmark, "plan_audit")
    context = {"benchmark": benchmark, "records": records_in(benchmark, request.user), "few": FEW}
    return render(request, "annotations/people.html", context)
