"""Whether what people decided in an audit scores, in place of the judge's verdicts."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotations.access import find_campaign
from annotations.seals import sees_results
from evaluation.audits.campaigns import audited_pilots
from evaluation.audits.corrections import (
    correct_by_audit,
    corrections_by,
    overturned_questions,
    take_corrections_back,
    why_not_scored,
)
from evaluation.results.scores import refresh_scores
from studio.access import SignedInRequest, require
from studio.domain.options import OptionsError
from studio.domain.phrases import count_of


@login_required
@require_http_methods(["GET", "POST"])
def corrections(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_campaign(request.user, pk)
    require(request.user, row.benchmark, "plan_audit")
    if not sees_results(request.user, row):
        raise PermissionDenied("You judge in this audit yourself. Open its results first.")
    error = None
    reason = request.POST.get("reason", "")
    if request.method == "POST":
        back = "back" in request.POST
        try:
            number = (take_corrections_back if back else correct_by_audit)(row, by=request.user, reason=reason)
        except OptionsError as refused:
            error = refused
        else:
            refresh_scores(audited_pilots(row))
            whose = "the judge" if back else "people"
            messages.success(request, f"From now on {count_of(number, 'verdict')} will score as {whose} decided.")
            return redirect(row)
    request.room = "audits"
    return render(
        request,
        "evaluation/audits/corrections.html",
        {
            "campaign": row,
            "overturned": overturned_questions(row),
            "not_scored": dict(why_not_scored(row)),
            "corrected": corrections_by(row),
            "error": error,
            "reason": reason,
        },
        status=422 if error else 200,
    )


urlpatterns = [path("audits/<int:pk>/corrections/", corrections, name="audit_corrections")]
