"""What results are computed from, and what is compared. Everything stands in the address, so that it can be shared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms

from evaluation.forms.choices import choice_of
from evaluation.models import Pilot
from evaluation.protocol.scoring import ScoringMode
from evaluation.results.benchmark_results import address_of, rankable, why_apart
from evaluation.results.figures.catalogue import FIGURES
from evaluation.results.selection import PilotRule, select_pilots

STYLES = ("json", "csv", "markdown", "latex")


class ResultsForm(forms.Form):
    """Anything unusable in the address is ignored: all pilots by real models, strict scoring."""

    pilot = forms.TypedMultipleChoiceField(coerce=int, required=False)
    scoring = forms.ChoiceField(choices=[(mode.value, mode.value) for mode in ScoringMode], required=False)
    tag = forms.CharField(required=False)
    model = forms.CharField(required=False)
    since = forms.DateField(required=False)
    until = forms.DateField(required=False)
    view = forms.IntegerField(required=False, max_value=2**31 - 1)
    figure = forms.ChoiceField(choices=[(name, kind.heading) for name, kind in FIGURES.items()], required=False)
    format = forms.ChoiceField(choices=[(style, style) for style in STYLES], required=False)

    def __init__(self, *args: Any, pilots: Sequence[Pilot], ranked: bool = True, **options: Any) -> None:
        """``ranked``: of the pilots named, only those that may be ranked with the newest are chosen."""
        super().__init__(*args, **options)
        self.pilots = sorted(pilots, key=lambda pilot: -pilot.number)
        choice_of(self, "pilot").choices = [(pilot.number, str(pilot)) for pilot in self.pilots]
        self.is_valid()
        numbers = self.cleaned_data.get("pilot") or ()
        self.named = set(numbers)
        chosen = {name: self.cleaned_data.get(name) for name in ("tag", "model", "since", "until")}
        self.rule = PilotRule() if numbers else PilotRule(**{name: value for name, value in chosen.items() if value})
        self.shown_view = self.cleaned_data.get("view")
        benchmark = self.pilots[0].benchmark if self.pilots else None
        self.figure_name = str(self.cleaned_data.get("figure") or next(iter(FIGURES)))
        self.pilot_mode = FIGURES[self.figure_name].mode
        self.chosen = select_pilots(benchmark, self.pilots, numbers, self.rule, self.figure_name) if benchmark else []
        kept = rankable(self.chosen, self.pilot_mode) if ranked and numbers else self.chosen
        self.left_out = [pilot for pilot in self.chosen if pilot not in kept]
        self.why_left_out = why_apart(self.left_out[0], kept[-1]) if self.left_out else ""
        self.chosen = kept
        self.modes = [mode for mode in ScoringMode if all(mode in pilot.terms.modes for pilot in self.chosen)]
        self.tags = sorted({tag for pilot in self.pilots for tag in pilot.tags})
        self.models = sorted({pilot.endpoint("agent").model for pilot in self.pilots})
        wanted = self.cleaned_data.get("scoring")
        self.mode = next((mode for mode in self.modes if mode == wanted), ScoringMode.STRICT)
        self.style = str(self.cleaned_data.get("format") or "")

    @property
    def numbers(self) -> set[int]:
        return {pilot.number for pilot in self.chosen}

    @property
    def address(self) -> str:
        """The choice as a query string, the scoring included."""
        return address_of(self.chosen, self.mode)

    def address_of_figure(self, name: str) -> str:
        """With the pilots, unless the figure is of pilots of another mode."""
        same = FIGURES[name].mode == self.pilot_mode
        return f"{self.address if same else urlencode({'scoring': self.mode.value})}&figure={name}"

    @property
    def address_of_left_out(self) -> str:
        return address_of(self.left_out, self.mode)

    @property
    def address_of_pilots(self) -> str:
        return urlencode([("pilot", number) for number in sorted(self.numbers)])


class CompareForm(forms.Form):
    """Two different sides of the chosen pilots."""

    first = forms.ChoiceField(label="From")
    second = forms.ChoiceField(label="To")

    def __init__(self, *args: Any, sides: Mapping[str, str], **options: Any) -> None:
        """``sides``: with their labels."""
        super().__init__(*args, **options)
        for name in ("first", "second"):
            choice_of(self, name).choices = list(sides.items())

    def clean(self) -> dict[str, Any] | None:
        data = super().clean()
        if data and data.get("first") and data.get("first") == data.get("second"):
            raise forms.ValidationError("Choose two different agents or pilots.")
        return data

    @property
    def address(self) -> str:
        """The choice as a query string."""
        return urlencode({name: self.cleaned_data[name] for name in ("first", "second")})
