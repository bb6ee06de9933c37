"""Opening an audit of a pilot's judge. It is here because the audit pages know nothing of pilots."""

from __future__ import annotations

import secrets

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotations.exports import outline_of
from annotations.visibility import benchmarks_to_audit
from evaluation.audits.opening import open_audit, plan_audit
from evaluation.forms.audits import OpenAuditForm, choices_in
from studio.access import SignedInRequest, benchmarks_for, find_benchmark, require, why_not
from studio.domain.options import OptionsError


@login_required
@require_http_methods(["GET", "POST"])
def audit_new(request: SignedInRequest) -> HttpResponse:
    """For the benchmark in ``?benchmark=``, or the person's only one."""
    allowed = list(benchmarks_to_audit(request.user))
    if slug := request.GET.get("benchmark", ""):
        benchmark = find_benchmark(request.user, slug)
        require(request.user, benchmark, "plan_audit")
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
    pilots = choices_in(form, "pilots")
    if not initial["pilots"] and len(pilots[:2]) == 1:
        form.initial["pilots"] = [pilots[0].pk]
    outline = None
    if request.method == "POST" and form.is_valid():
        try:
            if "outline" in request.POST:
                outline = outline_of(plan_audit(benchmark, form.options(), by=request.user))
            else:
                return redirect(open_audit(benchmark, form.options(), by=request.user))
        except OptionsError as error:
            form.reject(error)
    context = {
        "form": form,
        "outline": outline,
        "unit": form["unit"].value(),
        "benchmark": benchmark,
        "has_decisions": pilots.exists(),
        "has_auditors": choices_in(form, "auditors").exists(),
    }
    request.room = "audits"
    return render(request, "annotations/open.html", context)


urlpatterns = [path("audits/new/", audit_new, name="audit_new")]
