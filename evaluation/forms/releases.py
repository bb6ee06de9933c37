"""Cutting a release."""

from __future__ import annotations

from django import forms

from evaluation.releases.cut import ReleaseOptions
from evaluation.releases.errata import ErratumOptions
from evaluation.releases.limits import ReleaseLimits
from studio.forms.options import OptionsForm


class ReleaseForm(OptionsForm):
    of = ReleaseOptions
    accept = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    leave_out = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    changes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}))


class LimitsForm(OptionsForm):
    of = ReleaseLimits


class ErratumForm(OptionsForm):
    of = ErratumOptions
    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}))
    tasks = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def clean_tasks(self) -> list[str]:
        return [line.strip() for line in str(self.cleaned_data["tasks"]).splitlines() if line.strip()]
