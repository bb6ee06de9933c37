"""Connecting a model endpoint."""

from __future__ import annotations

from typing import Any

from django import forms

from evaluation.endpoints import problem_of
from evaluation.models import ModelEndpoint


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
    class Meta:
        model = ModelEndpoint
        fields = [
            "name",
            "base_url",
            "model",
            "key_env",
            "params",
            "input_price",
            "output_price",
            "timeout_seconds",
            "max_concurrency",
        ]
        field_classes = {"params": ParametersField}
        labels = {
            "base_url": "Address",
            "key_env": "API key variable",
            "params": "Parameters",
            "input_price": "US dollars per million input tokens",
            "output_price": "US dollars per million output tokens",
            "timeout_seconds": "Timeout in seconds",
            "max_concurrency": "Concurrent requests",
        }
        help_texts = {
            "name": "Display name, such as “qwen-plus”.",
            "base_url": "Base URL of an OpenAI-compatible service, such as https://example.com/v1.",
            "model": "The model's name at the service.",
            "key_env": "The environment variable that holds the key on every machine with a worker. "
            "The key itself is never stored. Leave blank if the service needs none.",
            "params": 'Sent with every call, as JSON: {"temperature": 0.2}.',
        }

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not self.errors:
            row = ModelEndpoint(**{name: data[name] for name in self.Meta.fields})
            if not isinstance(row.params, dict):
                self.add_error("params", 'Enter the parameters as one JSON object, such as {"temperature": 0.2}.')
            elif problem := problem_of(row):
                self.add_error("params" if "parameters" in problem else "base_url", problem)
        return data

    def save(self, commit: bool = True) -> ModelEndpoint:
        self.instance.scripted = self.instance.base_url == "scripted:" or self.instance.scripted
        return super().save(commit)
