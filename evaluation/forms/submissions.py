"""Handing in results that were played elsewhere."""

from __future__ import annotations

from django import forms

from evaluation.submissions.reading import MAKE_AGAIN


class BundleForm(forms.Form):
    bundle = forms.FileField(
        label="Bundle",
        help_text="The file that “pibench bundle” wrote.",
        widget=forms.FileInput(attrs={"accept": ".zip"}),
        error_messages={"empty": f"This file is empty. {MAKE_AGAIN}"},
    )
