"""Pages of audits that know of pilots: opening one, letting a model take part, whether people's answers score, and how
judges do."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_GET, require_http_methods

from annotations.exports import outline_of
from annotations.models import AuditCampaign
from annotations.visibility import benchmarks_to_audit, find_planned_campaign
from evaluation.audits.blindness import require_judges_open
from evaluation.audits.campaigns import audited_pilots
from evaluation.audits.corrections import (
    correct_by_audit,
    corrections_by,
    overturned_questions,
    take_corrections_back,
    why_not_scored,
)
from evaluation.audits.gate import judge_rows
from evaluation.audits.opening import open_audit, plan_audit
from evaluation.audits.regression import regression_cases
from evaluation.forms.audits import OpenAuditForm
from evaluation.forms.choices import EndpointChoice, choice_of
from evaluation.models import ModelEndpoint
from evaluation.pilots.model_audits import ModelAuditOptions, plan_model_audit, start_model_audit
from evaluation.results.scores import refresh_scores
from studio.access import SignedInRequest, benchmarks_for, find_benchmark, why_not
from studio.domain.options import OptionsError
from studio.domain.phrases import count_of
from studio.forms.options import OptionsForm


@require_http_methods(["GET", "POST"])
def audit_new(request: SignedInRequest) -> HttpResponse:
    """For the benchmark in ``?benchmark=``, or the person's only one."""
    allowed = list(benchmarks_to_audit(request.user))
    if slug := request.GET.get("benchmark", ""):
        benchmark = find_benchmark(request.user, slug, "plan_audit")
    elif len(allowed) > 1:
        return render(request, "annotations/choose.html", {"benchmarks": allowed})
    elif allowed:
        benchmark = allowed[0]
    elif benchmarks_for(request.user).exists():
        raise PermissionDenied(why_not("plan_audit"))
    else:
        raise Http404
    initial = {"seed": secrets.randbelow(1_000_000), "pilots": request.GET.getlist("pilot")}
    form = OpenAuditForm(benchmark, request.user, request.POST or None, initial=initial)
    pilots = choice_of(form, "pilots").queryset.all()
    if not initial["pilots"] and len(pilots[:2]) == 1:
        form.initial["pilots"] = [pilots[0].pk]
    outline = None
    if request.method == "POST" and form.is_valid():
        with form.rejecting():
            if "outline" not in request.POST:
                return redirect(open_audit(benchmark, form.options(), by=request.user))
            outline = outline_of(plan_audit(benchmark, form.options(), by=request.user))
    context = {
        "form": form,
        "outline": outline,
        "unit": form["unit"].value(),
        "benchmark": benchmark,
        "has_decisions": pilots.exists(),
        "has_auditors": choice_of(form, "auditors").queryset.exists(),
    }
    return render(request, "annotations/open.html", context)


class ModelAuditForm(OptionsForm):
    of = ModelAuditOptions
    model = EndpointChoice(to_field_name="name")

    def __init__(self, campaign: AuditCampaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choice_of(self, "model").queryset = ModelEndpoint.objects.usable_in(campaign.benchmark)


@require_http_methods(["GET", "POST"])
def audit_model(request: SignedInRequest, pk: int) -> HttpResponse:
    """With parameters, a GET estimates the cost."""
    row = find_planned_campaign(request.user, pk)
    given = request.POST if request.method == "POST" else request.GET
    form = ModelAuditForm(row, given or None)
    plan = None
    if form.is_valid():
        with form.rejecting():
            plan = plan_model_audit(row, form.options())
    if request.method == "POST" and plan is not None:
        start_model_audit(plan, by=request.user)
        messages.success(
            request, f"{form.cleaned_data['model']} audits {count_of(plan.packets, row.packet_word)}. Its row is below."
        )
        return redirect(row)
    template = "evaluation/audits/model.html"
    if request.htmx and not request.htmx.boosted:
        template += "#estimate"
    return render(request, template, {"campaign": row, "form": form, "plan": plan})


@require_http_methods(["GET", "POST"])
def corrections(request: SignedInRequest, pk: int) -> HttpResponse:
    row = find_planned_campaign(request.user, pk)
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


@require_GET
def judges(request: SignedInRequest, slug: str) -> HttpResponse:
    benchmark = find_benchmark(request.user, slug, "plan_audit")
    require_judges_open(request.user, benchmark)
    cases = regression_cases(benchmark)
    rows = judge_rows(benchmark, cases)
    in_use = any(row.in_use for row in rows)
    context = {"benchmark": benchmark, "cases": cases, "rows": rows, "in_use": in_use}
    return render(request, "evaluation/audits/judges.html", context)


urlpatterns = [
    path("audits/new/", audit_new, name="audit_new"),
    path("audits/<int:pk>/model/", audit_model, name="audit_model"),
    path("audits/<int:pk>/corrections/", corrections, name="audit_corrections"),
    path("audits/judges/<slug:slug>/", judges, name="judges"),
]
