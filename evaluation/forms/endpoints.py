"""Connecting a model endpoint."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.formats import date_format

from evaluation.endpoints.catalog import ListedModel
from evaluation.endpoints.connection import default_name, free_name, problem_of, set_list_price
from evaluation.endpoints.services import Service, service_at
from evaluation.llm import Endpoint
from evaluation.llm.dialects import DIALECTS, EFFORTS
from evaluation.llm.endpoint import key_place
from evaluation.llm.stored_keys import problem_of_secret, seal
from evaluation.model_access import endpoint_of, policy
from evaluation.models import ModelEndpoint
from evaluation.models.endpoints import LONGEST_TIMEOUT, MOST_AT_ONCE, PRICES
from studio.domain.storable import storable
from studio.forms.fields import AmountField, WholeNumberField
from studio.models import Benchmark

MORE = ("name", "base_url", "key_env", "api", "dialect", "params", "timeout_seconds", "max_concurrency")


PLACES = {"parameters": "params", "Effort": "effort"}
"""The field that a problem is about, by a word of it."""


class ParametersField(forms.JSONField):
    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValueError, RecursionError):  # numbers of thousands of digits, deep nesting
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid", params={"value": ""}) from None

    def clean(self, value: Any) -> Any:
        params = {} if (given := super().clean(value)) is None else given
        if not isinstance(params, dict):
            raise forms.ValidationError('Enter the parameters as one JSON object, such as {"temperature": 0.2}.')
        return params

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
    timeout_seconds = WholeNumberField(
        label="Timeout in seconds",
        min_value=1,
        max_value=LONGEST_TIMEOUT,
        help_text="How long to wait until an answer begins.",
    )
    max_concurrency = WholeNumberField(
        label="Concurrent requests",
        min_value=1,
        max_value=MOST_AT_ONCE,
        help_text="At most so many at once, of all pilots together.",
    )

    class Meta:
        model = ModelEndpoint
        fields = (
            "name", "model", "effort", "base_url", "key_env", "api", "dialect", "params", *PRICES,
            "timeout_seconds", "max_concurrency",
        )  # fmt: skip
        field_classes = {"params": ParametersField, **dict.fromkeys(PRICES, AmountField)}
        labels = {
            "base_url": "Address",
            "key_env": "API key variable",
            "api": "API",
            "params": "Parameters",
            "input_price": "Input",
            "output_price": "Output",
            "cached_price": "Input from a cache",
            "cache_write_price": "Input kept in a cache",
        }
        help_texts = {
            "name": "As people choose it, such as “qwen-plus”.",
            "base_url": "Of an OpenAI-compatible service, such as https://example.com/v1.",
            "model": "Its name at the service.",
            "effort": "How much it thinks before it answers. Part of its name in results.",
            "key_env": "The environment variable that holds the key on every machine with a worker. "
            "Leave blank if you enter the key, or the service needs none.",
            "dialect": "How the service sends thoughts and takes them back.",
            "params": 'Sent with every call, as JSON: {"temperature": 0.2}.',
            "input_price": "Leave prices blank if you do not know them; 0 is free.",
            "cached_price": "Blank: as other input.",
            "cache_write_price": "Blank: as other input.",
        }

    field_order = ("name", "model", "effort", "key", "key_env")

    def __init__(
        self, *args: Any, benchmark: Benchmark | None = None, service: Service | None = None, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.benchmark = benchmark
        self.service = service or service_at(self.instance.base_url)
        self.stored = self.instance.sealed_key
        self.stored_place = key_place(self.instance.benchmark_id, self.instance.base_url)
        self.named_by_default = self.instance.name == default_name(self.instance)
        key = self.fields["key"]
        key.disabled = bool(problem_of_secret())
        key.help_text = problem_of_secret() or (
            "A key is stored. Leave blank to keep it, or enter another one."
            if self.stored
            else "Stored encrypted, and never shown again."
        )
        for price in PRICES:
            if (amount := self.initial.get(price)) is not None:
                self.initial[price] = Decimal(f"{Decimal(amount).normalize():f}")  # 2.5 in place of 2.500000
        if self.stored:
            self.fields["forget_key"] = forms.BooleanField(label="Delete the stored key", required=False)
        efforts = self.service.efforts if self.service else EFFORTS
        known = dict.fromkeys(name for name in (*efforts, self.instance.effort) if name)
        self.fields["effort"] = forms.ChoiceField(
            label="Effort",
            required=False,
            choices=[("", "the model’s default"), *((name, name) for name in known)],
            help_text=self.Meta.help_texts["effort"],
        )
        self.fields["dialect"] = forms.ChoiceField(
            label="Dialect",
            required=False,
            choices=[("", "that of its address"), *((name, name) for name in DIALECTS if name)],
            help_text=self.Meta.help_texts["dialect"],
        )
        if benchmark is not None:
            self._limit_to_owners()

    def _limit_to_owners(self) -> None:
        self.fields["name"].help_text = "As people choose it here, such as “qwen-plus of our team”."
        granted = policy().owner_keys
        if not granted:
            del self.fields["key_env"]
            return
        choices = [("", "None"), *((variable, f"{variable}, for {host}") for variable, host in granted)]
        self.fields["key_env"] = forms.ChoiceField(
            label="API key of the studio", required=False, choices=choices, help_text="An administrator allows these."
        )

    @property
    def more_errors(self) -> bool:
        """Whether one of the settings that are folded away is wrong."""
        return any(name in self.errors for name in MORE)

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
            row = self._draft(data)
            if problem := problem_of(row):
                field = next((name for word, name in PLACES.items() if word in problem), "base_url")
                self.add_error(field if field in self.fields else None, problem)
            elif self.benchmark and variable and (problem := policy().owner_key_problem(variable, row.base_url)):
                self.add_error("key_env", problem)
        return data

    def _draft(self, data: Mapping[str, Any]) -> ModelEndpoint:
        fields = {name: data[name] for name in self.Meta.fields if name in data}
        return ModelEndpoint(**fields, benchmark=self.benchmark)

    def save(self, commit: bool = True) -> ModelEndpoint:
        row = self.instance
        row.scripted = row.base_url == "scripted:" or row.scripted
        row.benchmark = self.benchmark
        if entered := self.cleaned_data.get("key"):
            row.sealed_key = seal(entered, key_place(row.benchmark_id, row.base_url))
        elif self.cleaned_data.get("forget_key"):
            row.sealed_key = ""
        changed = set(self.changed_data)
        if changed & set(PRICES):
            row.price_date, row.price_source = timezone.localdate(), "entered"
        elif row.pk is None or changed & {"base_url", "model"}:
            set_list_price(row)
        if self.named_by_default and "name" not in changed and changed & {"model", "effort"}:
            row.name = free_name(default_name(row))
        return super().save(commit)


class ConnectForm(EndpointForm):
    """What a chosen service needs; the rest has defaults, which can be opened."""

    named_by_default = True

    def __init__(self, *args: Any, service: Service, seat: Mapping[str, Any] | None = None, **kwargs: Any) -> None:
        """``seat``: values to begin with instead of the service's own."""
        new = ModelEndpoint()
        initial = {
            "base_url": service.base_url,
            "api": service.api,
            "dialect": service.dialect,
            "params": dict(service.params),
            "timeout_seconds": new.timeout_seconds,
            "max_concurrency": new.max_concurrency,
        }
        if os.environ.get(service.key_env):
            initial["key_env"] = service.key_env
        begun = {name: value for name, value in (seat or {}).items() if name != "service"}
        super().__init__(*args, service=service, initial=initial | begun, **kwargs)
        self.fields["name"].required = False
        self.fields["name"].help_text = "Blank: the model’s own name."
        for price in PRICES:
            del self.fields[price]
        if not service.efforts:
            del self.fields["effort"]
        if service.is_local:
            self.fields["key"].help_text = "Leave blank if it needs none. " + str(self.fields["key"].help_text)

    def clean_name(self) -> str:
        said = {name: storable(self.data.get(name, "")) for name in ("model", "effort")}
        return self.cleaned_data["name"] or free_name(default_name(ModelEndpoint(**said)))

    def to_ask(self) -> Endpoint:
        """The service as far as it is filled in, to list its models. Raises ValueError."""
        self.full_clean()
        for field in ("base_url", "key", "key_env", "params"):
            if field in self.errors:
                raise ValueError(str(self.errors[field].as_data()[0].messages[0]))
        row = self._draft(self.cleaned_data | {"name": self.service.name if self.service else "The service"})
        if key := self.cleaned_data.get("key"):
            row.sealed_key = seal(key, key_place(self.benchmark.pk if self.benchmark else None, row.base_url))
        if problem := problem_of(row):
            raise ValueError(problem)
        return endpoint_of(row)

    def offer(self, models: Sequence[ListedModel]) -> None:
        """Let people choose among them instead of typing a name."""
        names = [model.name for model in models]
        wanted = (self.initial.get("model"), self.service.example if self.service else "")
        self.initial["model"] = next((name for name in wanted if name in names), "")
        taken = max((model.price.on for model in models if model.price), default=None)
        of = f" Prices are in US dollars per million tokens, of {date_format(taken, 'j M Y')}." if taken else ""
        self.fields["model"] = forms.ChoiceField(
            label="Model",
            choices=[("", "Choose a model"), *((model.name, model.label) for model in models)],
            help_text=f"This service has {len(names)}.{of}",
            widget=forms.Select(attrs={"autofocus": True}),
        )


class ModelRequestForm(forms.Form):
    text = forms.CharField(
        label="Which model, and what for?", required=False, max_length=500, widget=forms.Textarea(attrs={"rows": 2})
    )
