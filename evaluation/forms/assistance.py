"""Choosing the assistant model and its budget."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.endpoints.parts import endpoints_for
from evaluation.forms.choices import EndpointChoice
from evaluation.models import AssistantModel
from studio.forms.fields import AmountField, WholeNumberField
from studio.models import Benchmark


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
