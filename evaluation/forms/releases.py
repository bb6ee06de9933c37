"""Cutting a release."""

from __future__ import annotations

from django import forms

from evaluation.releases.cut import ReleaseOptions
from studio.forms.options import OptionsForm


class ReleaseForm(OptionsForm):
    of = ReleaseOptions
    accept = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    changes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}))
