"""Cutting a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from evaluation.forms.choices import choice_of
from evaluation.models import Pilot
from evaluation.releases.cut import ReleaseOptions
from evaluation.releases.errata import ErratumOptions
from evaluation.releases.exceptions import ExceptionOptions
from evaluation.releases.readiness import ReleaseLimits
from studio.forms.options import OptionsForm


class ReleaseForm(OptionsForm):
    of = ReleaseOptions
    accept = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))
    changes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 4}))

    def clean_leave_out(self) -> str:
        """As the options have it: the page has a box for each pilot, and its reason beside it."""
        if not isinstance(self.data, QueryDict):
            return str(self.data.get("leave_out", ""))
        ticked = [number for number in self.data.getlist("leave_out") if number.isdecimal()]
        return "\n".join(f"{number} {' '.join(self.data.get(f'why-{number}', '').split())}" for number in ticked)

    def citable(self, pilots: Iterable[Pilot]) -> list[tuple[Pilot, str, str | None]]:
        """Each with its number, and why it is left out if it is ticked."""
        lines = self.clean_leave_out() if self.is_bound else ""
        reasons = {number: reason for number, _, reason in (line.partition(" ") for line in lines.splitlines())}
        return [(pilot, str(pilot.number), reasons.get(str(pilot.number))) for pilot in pilots]


class ExceptionForm(OptionsForm):
    of = ExceptionOptions
    scope = forms.ChoiceField(widget=forms.RadioSelect)
    reason = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}))

    def __init__(self, *args: Any, scopes: Mapping[str, str], **kwargs: Any) -> None:
        """``scopes``: those that can be chosen, with what each covers."""
        super().__init__(*args, **kwargs)
        for name in ("rule", "persona", "task", "place", "shown"):
            self.fields[name].widget = forms.HiddenInput()
            self.fields[name].required = name == "rule"
        scope = choice_of(self, "scope")
        scope.choices = list(scopes.items())
        scope.initial = next(iter(scopes))
        scope.label, scope.help_text = "What it covers", ""


class LimitsForm(OptionsForm):
    of = ReleaseLimits


class ErratumForm(OptionsForm):
    of = ErratumOptions
    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 3}))
    tasks = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))

    def clean_tasks(self) -> list[str]:
        return [line.strip() for line in str(self.cleaned_data["tasks"]).splitlines() if line.strip()]
