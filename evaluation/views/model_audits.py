"""Letting a model audit what people audit: what it would cost, and the start."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.views.decorators.http import require_http_methods

from annotations.access import find_campaign
from annotations.models import AuditCampaign
from annotations.seals import sees_results
from evaluation.forms.choices import EndpointChoice
from evaluation.models import ModelEndpoint
from evaluation.pilots.model_audits import ModelAuditOptions, ModelAuditPlan, plan_model_audit, start_model_audit
from studio.access import SignedInRequest, require
from studio.domain.options import OptionsError
from studio.domain.phrases import count_of
from studio.forms.options import OptionsForm


class ModelAuditForm(OptionsForm):
    of = ModelAuditOptions
    model = EndpointChoice(ModelEndpoint.objects.none(), to_field_name="name")

    def __init__(self, campaign: AuditCampaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        model = self.fields["model"]
        assert isinstance(model, forms.ModelChoiceField)
        model.queryset = ModelEndpoint.objects.usable_in(campaign.benchmark)


@login_required
@require_http_methods(["GET", "POST"])
def audit_model(request: SignedInRequest, pk: int) -> HttpResponse:
    """With parameters, a GET estimates the cost."""
    row = find_campaign(request.user, pk)
    require(request.user, row.benchmark, "plan_audit")
    if not sees_results(request.user, row):
        raise PermissionDenied("You judge in this audit yourself. Open its results first.")
    given = request.POST if request.method == "POST" else request.GET
    form = ModelAuditForm(row, given or None)
    plan = _plan(form, row)
    if request.method == "POST" and plan is not None:
        start_model_audit(plan, by=request.user)
        messages.success(
            request, f"{form.cleaned_data['model']} audits {count_of(plan.packets, row.packet_word)}. Its row is below."
        )
        return redirect(row)
    template = "evaluation/audits/model.html"
    if request.htmx and not request.htmx.boosted:
        template += "#estimate"
    request.room = "audits"
    return render(request, template, {"campaign": row, "form": form, "plan": plan})


def _plan(form: ModelAuditForm, campaign: AuditCampaign) -> ModelAuditPlan | None:
    if not form.is_valid():
        return None
    try:
        return plan_model_audit(campaign, form.options())
    except OptionsError as error:
        form.reject(error)
        return None


urlpatterns = [path("audits/<int:pk>/model/", audit_model, name="audit_model")]
