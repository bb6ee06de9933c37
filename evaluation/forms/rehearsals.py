"""Starting a rehearsal."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.endpoints.parts import default_endpoint, endpoints_for
from evaluation.forms.choices import EndpointChoice
from evaluation.models import ModelEndpoint, Rehearsal
from studio.models import Benchmark


class RehearsalForm(forms.Form):
    seat = forms.ChoiceField(choices=Rehearsal.Seat.choices, widget=forms.RadioSelect, initial=Rehearsal.Seat.AGENT)
    agent = EndpointChoice(
        queryset=ModelEndpoint.objects.none(),
        label="Answering model",
        help_text="Plays the assistant when you play the user.",
    )
    judge = EndpointChoice(
        queryset=ModelEndpoint.objects.none(),
        required=False,
        label="Who marks intents as met",
        empty_label="I do, manually",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, part in (("agent", "agent"), ("judge", "user_model")):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = endpoints_for(part, benchmark)
            if not self.is_bound:
                self.initial.setdefault(name, default_endpoint(part, benchmark))
        agent = self.fields["agent"]
        assert isinstance(agent, forms.ModelChoiceField)
        agent.empty_label = None

    @property
    def arguments(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("seat", "agent", "judge")}
