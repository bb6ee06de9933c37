"""Results of a release that were played elsewhere."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluation.audits.blindness import find_pilot, find_release, open_pilots
from evaluation.submissions.reading import MAKE_AGAIN
from evaluation.submissions.submit import submit, verify
from studio.access import SignedInRequest
from studio.domain.options import OptionsError


class BundleForm(forms.Form):
    bundle = forms.FileField(
        label="Bundle",
        help_text="The file that “pibench bundle” wrote.",
        widget=forms.FileInput(attrs={"accept": ".zip"}),
        error_messages={"empty": f"This file is empty. {MAKE_AGAIN}"},
    )


@require_http_methods(["GET", "POST"])
def import_results(request: SignedInRequest, pk: int) -> HttpResponse:
    release = find_release(request.user, pk, "pilot")
    form = BundleForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    if request.method == "POST" and form.is_valid():
        try:
            submitted = submit(form.cleaned_data["bundle"].read(), by=request.user, release=release)
        except OptionsError as error:
            form.add_error("bundle", error.message)
        else:
            pilot = submitted.submission.pilot
            if submitted.is_new:
                messages.success(request, f"Imported as pilot {pilot.number}, not verified.")
            else:
                messages.info(request, f"These results are here already, as pilot {pilot.number}. Nothing has changed.")
            return redirect(pilot)
    rows = open_pilots(request.user).filter(submission__release=release).order_by("-pk")
    return render(
        request, "evaluation/submissions/import.html", {"release": release, "form": form, "pilots": rows[:100]}
    )


@require_POST
def verified(request: SignedInRequest, pk: int) -> HttpResponse:
    """Answer for submitted results under one's name, or no longer."""
    pilot = find_pilot(request.user, pk, "release")
    try:
        verify(pilot, by=request.user, verified=request.POST.get("verified") == "1")
    except OptionsError as error:
        messages.error(request, error.message)
    return redirect(pilot)
