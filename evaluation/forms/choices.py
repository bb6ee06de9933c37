"""Form fields for model endpoints."""

from __future__ import annotations

from django import forms

from evaluation.models import ModelEndpoint


def named_with_price(row: ModelEndpoint) -> str:
    if row.scripted:
        return f"{row.name} – scripted"
    if row.input_price is None or row.output_price is None:
        return f"{row.label} – no price known"
    return f"{row.label} – ${row.input_price.normalize():f} in, ${row.output_price.normalize():f} out per million"


class EndpointChoice(forms.ModelChoiceField[ModelEndpoint]):
    def label_from_instance(self, row: ModelEndpoint) -> str:
        return named_with_price(row)


class EndpointChoices(forms.ModelMultipleChoiceField[ModelEndpoint]):
    widget = forms.CheckboxSelectMultiple

    def label_from_instance(self, row: ModelEndpoint) -> str:
        return named_with_price(row)
