"""Starting a validation, and writing a reference solution."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest

from evaluation.endpoints.parts import endpoints_for
from evaluation.forms.choices import EndpointChoice, choice_of
from evaluation.probes.validation import ValidationOptions, find_models
from evaluation.protocol.given import GivenCall, GivenTurn
from studio.domain.options import OptionsError
from studio.domain.storable import read_json
from studio.forms.options import RuledForm
from studio.models import Benchmark


class BudgetForm(forms.Form):
    cost = forms.FloatField(min_value=0, initial=5, label="Budget in US dollars", help_text="0: no limit.")
    tokens = forms.IntegerField(
        min_value=0, max_value=10**12, initial=0, required=False, label="Budget in tokens", help_text="0: no limit."
    )

    def options(self) -> ValidationOptions:
        """Raises OptionsError."""
        given = {name: getattr(value, "name", value) for name, value in self.cleaned_data.items() if value is not None}
        return ValidationOptions.read(given)


class ValidationForm(BudgetForm):
    field_order = ("agent", "judge")
    agent = EndpointChoice(label="Writes the candidates", to_field_name="name", empty_label=None)
    judge = EndpointChoice(label="Judges them", to_field_name="name", empty_label=None)
    persona = forms.CharField(required=False, widget=forms.HiddenInput)
    task = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        for name in ("agent", "judge"):
            choice_of(self, name).queryset = endpoints_for(name, benchmark)
        try:
            agent, judge = find_models(benchmark, ValidationOptions())
            self.initial.update(agent=agent.name, judge=judge.name)
        except OptionsError:
            pass  # the first of each is chosen


class _Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class _SeveralFiles(forms.FileField):
    def clean(self, data: Any, initial: Any = None) -> Any:
        return [super(_SeveralFiles, self).clean(each, initial) for each in data or ()]


class SolutionForm(RuledForm):
    reply = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 8}), label="Reply", help_text="What the agent says."
    )
    folder = forms.CharField(
        required=False, label="Folder of the new files", help_text="In the workspace; empty: its top."
    )
    added = _SeveralFiles(required=False, widget=_Files(attrs={"multiple": True}), label="Files to add")
    calls = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono"}),
        label="Tool calls",
        help_text='JSON: [{"name": "…", "arguments": {…}}, …], made in this order.',
    )

    @property
    def contents(self) -> dict[str, bytes]:
        """Of the new files, by path."""
        folder = self.cleaned_data["folder"].strip("/ ")
        files = self.cleaned_data["added"]
        return {"/".join(filter(None, (folder, file.name))): file.read() for file in files}

    def kept(self, request: HttpRequest) -> list[str]:
        """Paths of the last solution that stay."""
        return request.POST.getlist("keep")

    def turn(self) -> GivenTurn:
        """Without files. Raises OptionsError."""
        try:
            rows = read_json(self.cleaned_data["calls"] or "[]")
            calls = tuple(GivenCall(str(row["name"]), dict(row["arguments"])) for row in rows)
        except (ValueError, TypeError, KeyError):
            raise OptionsError("calls", "Write a list of calls, each with a name and arguments, as JSON.") from None
        return GivenTurn(self.cleaned_data["reply"].replace("\r\n", "\n"), calls)
