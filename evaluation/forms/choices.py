"""Choosing models: fields, and the forms of a rehearsal and of the assistant."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet

from evaluation.endpoints.parts import default_endpoint, endpoints_for
from evaluation.models import AssistantModel, ModelEndpoint, Rehearsal
from studio.forms.fields import AmountField, WholeNumberField
from studio.models import Benchmark


def named_with_price(row: ModelEndpoint) -> str:
    if row.scripted:
        return f"{row.name} – scripted"
    if row.input_price is None or row.output_price is None:
        return f"{row.label} – no price known"
    return f"{row.label} – ${row.input_price.normalize():f} in, ${row.output_price.normalize():f} out per million"


def choice_of(form: forms.Form, name: str) -> Any:
    """The field of this name, which its class declares as one that offers choices."""
    return form.fields[name]


class EndpointChoice(forms.ModelChoiceField[ModelEndpoint]):
    def __init__(self, queryset: QuerySet[ModelEndpoint] | None = None, **options: Any) -> None:
        super().__init__(ModelEndpoint.objects.none() if queryset is None else queryset, **options)

    def label_from_instance(self, row: ModelEndpoint) -> str:
        return named_with_price(row)


class EndpointChoices(forms.ModelMultipleChoiceField[ModelEndpoint]):
    widget = forms.CheckboxSelectMultiple

    def __init__(self, **options: Any) -> None:
        super().__init__(ModelEndpoint.objects.none(), **options)

    def label_from_instance(self, row: ModelEndpoint) -> str:
        return named_with_price(row)


class AssistantModelForm(forms.ModelForm[AssistantModel]):
    max_tokens = WholeNumberField(label="Tokens", min_value=0, max_value=2**63 - 1, help_text="0 means no limit.")

    class Meta:
        model = AssistantModel
        fields = ["endpoint", "period", "max_tokens", "max_cost"]
        field_classes = {"max_cost": AmountField}
        labels = {
            "endpoint": "Assistant model",
            "period": "Budget period",
            "max_cost": "US dollars",
        }
        help_texts = {
            "endpoint": "It proposes when an author asks, and sees the task it is asked about: request, hidden "
            "intents, checklist, files that are text, the profile, and a reference where items are drawn from one.",
            "max_cost": "0 means no limit. Counted at the model's prices.",
        }

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["endpoint"] = EndpointChoice(
            queryset=endpoints_for("assistant", benchmark),
            required=False,
            label="Assistant model",
            empty_label="None (AI help off)",
            help_text=self.Meta.help_texts["endpoint"],
        )


class RehearsalForm(forms.Form):
    seat = forms.ChoiceField(choices=Rehearsal.Seat.choices, widget=forms.RadioSelect, initial=Rehearsal.Seat.AGENT)
    agent = EndpointChoice(
        label="Answering model",
        help_text="Plays the assistant when you play the user.",
    )
    judge = EndpointChoice(
        required=False,
        label="Who marks intents as met",
        empty_label="I do, manually",
    )

    def __init__(self, *args: Any, benchmark: Benchmark, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, part in (("agent", "agent"), ("judge", "user_model")):
            choice_of(self, name).queryset = endpoints_for(part, benchmark)
            if not self.is_bound:
                self.initial.setdefault(name, default_endpoint(part, benchmark))
        choice_of(self, "agent").empty_label = None

    @property
    def arguments(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("seat", "agent", "judge")}
