"""Cutting a release."""

from __future__ import annotations

from django import forms


class ReleaseForm(forms.Form):
    version = forms.CharField(max_length=40, label="Version", help_text="Such as 1.0. It never changes afterwards.")
    accept = forms.CharField(
        required=False,
        label="Reason for the exceptions",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Recorded in the release under your name.",
    )
