"""Judgings of a pilot: side by side, judging again, and choosing what scores."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.audits.blindness import find_pilot
from evaluation.forms.judgings import RejudgingForm, ScoringForm
from evaluation.models import JudgingRound
from evaluation.pilots.rejudging import plan_rejudging, resume_round, start_rejudging
from evaluation.results.scores import choose_scoring
from studio.access import SignedInRequest


@require_http_methods(["GET", "POST"])
def rejudge(request: SignedInRequest, pk: int) -> HttpResponse:
    """With parameters, a GET estimates the cost."""
    pilot = find_pilot(request.user, pk, "pilot")
    given = request.POST if request.method == "POST" else request.GET
    form = RejudgingForm(given if given else {"samples": "1"}, pilot=pilot)
    plan = None
    if form.is_valid():
        with form.rejecting():
            plan = plan_rejudging(pilot, form.options())
    if request.method == "POST" and plan is not None:
        started = start_rejudging(plan, by=request.user)
        messages.success(request, f"Judging again, as round {started.number}. The pilot’s scores stay as they are.")
        return redirect(f"{pilot.get_absolute_url()}#judgings")
    template = "evaluation/judgings/rejudge.html"
    if request.htmx and not request.htmx.boosted:
        template += "#estimate"
    return render(request, template, {"pilot": pilot, "form": form, "plan": plan})


@require_POST
def round_resume(request: SignedInRequest, pk: int, number: int) -> HttpResponse:
    pilot = find_pilot(request.user, pk, "pilot")
    taken_up = resume_round(get_object_or_404(JudgingRound, pilot=pilot, number=number))
    judgings = "1 judging goes on" if taken_up == 1 else f"{taken_up} judgings go on"
    messages.success(request, f"{judgings}. Answered calls are not repeated.")
    return redirect(f"{pilot.get_absolute_url()}#judgings")


@require_http_methods(["GET", "POST"])
def scoring(request: SignedInRequest, pk: int) -> HttpResponse:
    pilot = find_pilot(request.user, pk, "pilot")
    initial = {"round": request.GET["round"]} if request.GET.get("round", "").isdecimal() else {}
    form = ScoringForm(request.POST or None, pilot=pilot, initial=initial)
    if request.method == "POST" and form.is_valid():
        with form.rejecting():
            choice = choose_scoring(pilot, form.cleaned_data["round"], form.rules, by=request.user)
            messages.success(request, f"Round {choice.round.number} scores this pilot now.")
            return redirect(f"{pilot.get_absolute_url()}#judgings")
    history = pilot.scoring_choices.select_related("round", "by")[:20]
    return render(request, "evaluation/judgings/scoring.html", {"pilot": pilot, "form": form, "history": history})
