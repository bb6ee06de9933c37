"""Connecting a model endpoint."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.endpoints.connection import problem_of
from evaluation.llm.addresses import granted_keys, owner_key_problem
from evaluation.llm.endpoint import key_place
from evaluation.llm.stored_keys import problem_of_secret, seal
from evaluation.models import ModelEndpoint
from evaluation.models.endpoints import CONFIGURED_FIELDS, PRICES
from studio.forms.numbers import AmountField, WholeNumberField
from studio.models import Benchmark


class ParametersField(forms.JSONField):
    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValueError, RecursionError):  # numbers of thousands of digits, deep nesting
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid", params={"value": ""}) from None

    def bound_data(self, data: Any, initial: Any) -> Any:
        try:
            return super().bound_data(data, initial)
        except (ValueError, RecursionError):
            return forms.fields.InvalidJSONInput(data)


class EndpointForm(forms.ModelForm[ModelEndpoint]):
    """A key that is entered is encrypted at once; it is never a form's initial value, and never drawn again."""

    key = forms.CharField(
        label="API key",
        required=False,
        max_length=1000,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    timeout_seconds = WholeNumberField(label="Timeout in seconds", min_value=0, max_value=2**31 - 1)
    max_concurrency = WholeNumberField(label="Concurrent requests", min_value=0, max_value=2**31 - 1)

    class Meta:
        model = ModelEndpoint
        fields = CONFIGURED_FIELDS
        field_classes = {"params": ParametersField, **dict.fromkeys(PRICES, AmountField)}
        labels = {
            "base_url": "Address",
            "key_env": "API key variable",
            "params": "Parameters",
            "input_price": "US dollars per million input tokens",
            "output_price": "US dollars per million output tokens",
            "cached_price": "US dollars per million tokens read from a cache",
            "cache_write_price": "US dollars per million tokens written to a cache",
            "price_date": "Prices as of",
            "price_source": "Prices from",
        }
        help_texts = {
            "name": "Display name, such as “qwen-plus”.",
            "base_url": "Base URL of an OpenAI-compatible service, such as https://example.com/v1.",
            "model": "The model's name at the service.",
            "key_env": "The environment variable that holds the key on every machine with a worker. "
            "Leave blank if you enter the key below, or the service needs none.",
            "params": 'Sent with every call, as JSON: {"temperature": 0.2}.',
        }

    field_order = ("name", "base_url", "model", "key", "key_env")

    def __init__(self, *args: Any, benchmark: Benchmark | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.stored = self.instance.sealed_key
        self.stored_place = key_place(self.instance.benchmark_id, self.instance.base_url)
        key = self.fields["key"]
        key.disabled = bool(problem_of_secret())
        key.help_text = problem_of_secret() or (
            "A key is stored. Leave blank to keep it, or enter another one."
            if self.stored
            else "Entered once, stored encrypted, and never shown again."
        )
        if self.stored:
            self.fields["forget_key"] = forms.BooleanField(label="Delete the stored key", required=False)
        if benchmark is not None:
            self._limit_to_owners()

    def _limit_to_owners(self) -> None:
        self.fields["name"].help_text = "As people choose it here, such as “qwen-plus of our team”."
        granted = granted_keys()
        if not granted:
            del self.fields["key_env"]
            return
        choices = [("", "None"), *((variable, f"{variable}, for {host}") for variable, host in granted)]
        self.fields["key_env"] = forms.ChoiceField(
            label="API key of the studio", required=False, choices=choices, help_text="An administrator allows these."
        )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        entered, variable = data.get("key"), data.get("key_env")
        if (entered or (self.stored and not data.get("forget_key"))) and variable:
            self.add_error("key_env", "Either enter a key, or name a variable: not both.")
        moved = self.stored_place != key_place(self.benchmark.pk if self.benchmark else None, data.get("base_url", ""))
        if self.stored and moved and not entered and not data.get("forget_key"):
            self.add_error(
                "key", "The address has changed: enter the key again. It is only sent where it was meant for."
            )
        if not self.errors:
            fields = {name: data[name] for name in self.Meta.fields if name in data}
            row = ModelEndpoint(**fields, benchmark=self.benchmark)
            if not isinstance(row.params, dict):
                self.add_error("params", 'Enter the parameters as one JSON object, such as {"temperature": 0.2}.')
            elif problem := problem_of(row):
                self.add_error("params" if "parameters" in problem else "base_url", problem)
            elif self.benchmark and variable and (problem := owner_key_problem(variable, row.base_url)):
                self.add_error("key_env", problem)
        return data

    def save(self, commit: bool = True) -> ModelEndpoint:
        row = self.instance
        row.scripted = row.base_url == "scripted:" or row.scripted
        row.benchmark = self.benchmark
        if entered := self.cleaned_data.get("key"):
            row.sealed_key = seal(entered, key_place(row.benchmark_id, row.base_url))
        elif self.cleaned_data.get("forget_key"):
            row.sealed_key = ""
        return super().save(commit)


class ModelRequestForm(forms.Form):
    text = forms.CharField(
        label="Which model, and what for?", required=False, max_length=500, widget=forms.Textarea(attrs={"rows": 2})
    )
