"""Every component in every state, also for visual tests."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from studio.access import SignedInRequest
from studio.domain.findings import Finding
from studio.models.statuses import STATUSES


class Example(forms.Form):
    title = forms.CharField(help_text="One line that says what the task is about.")
    request_text = forms.CharField(label="Request", widget=forms.Textarea, required=False)
    trigger = forms.ChoiceField(choices=[("user_message", "User message"), ("feed", "Feed")])
    weight = forms.FloatField(min_value=0)
    persistent = forms.BooleanField(label="Also applies in later tasks", required=False)


@login_not_required
def styleguide(request: SignedInRequest) -> HttpResponse:
    invalid = Example({"title": "", "weight": "much"})
    invalid.is_valid()
    text = "Put the open points into one note. If there is a thread already, keep this in that thread."
    findings = [
        Finding(
            rule="said",
            severity="error",
            message="Intent 4 is already in the request",
            fix="Remove the intent, or leave this text out of the request.",
            passage="keep this in that thread",
        ),
        Finding(
            rule="two",
            severity="warning",
            message="Item 2 asks two things",
            fix="Split it so that each part can be judged separately.",
            passage="open points",
        ),
        Finding(rule="unused", severity="hint", message="Nothing scores intent 4", fix="Add an item."),
    ]
    now = timezone.now()
    return render(
        request,
        "studio/styleguide.html",
        {
            "statuses": STATUSES,
            "form": Example(),
            "invalid_form": invalid,
            "text": text,
            "findings": findings,
            "page": Paginator(range(120), 25).page(2),
            "moments": [now, now - dt.timedelta(minutes=7), now - dt.timedelta(hours=5), now - dt.timedelta(days=40)],
            "events": [
                SimpleNamespace(at=now, actor="Ana", verb="edited", summary="Changed the title and the checklist."),
                SimpleNamespace(at=now - dt.timedelta(hours=3), actor="Wei", verb="approved", summary="Version 3."),
                SimpleNamespace(at=now - dt.timedelta(days=2), actor=None, verb="imported", summary="Created."),
            ],
            "icons": [
                "home",
                "benchmarks",
                "pilots",
                "results",
                "audits",
                "releases",
                "settings",
                "rail",
                "theme",
                "person",
                "user_message",
                "webhook",
                "heartbeat",
                "feed",
                "file_drop",
                "up",
                "down",
                "close",
                "plus",
            ],
        },
    )
