"""Model endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Self

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.db.models.lookups import Exact

from evaluation.llm.dialects import DIALECTS, EFFORTS
from evaluation.llm.endpoint import KEY_VARIABLE, Prices
from evaluation.llm.parameters import HOTTEST, LENGTHS, MOST_TOKENS
from evaluation.protocol.participants import Tokens
from studio.models import Benchmark

IMPORTED_URL = "imported:"
"""Of a name that came with imported results: nothing can be asked there."""
LONGEST_TIMEOUT = 3_600
"""Seconds."""
MOST_AT_ONCE = 1_000
PRICES = ("input_price", "output_price", "cached_price", "cache_write_price")


class ModelEndpoints(models.QuerySet["ModelEndpoint"]):
    def usable_in(self, benchmark: Benchmark) -> Self:
        """Those of the studio, and those that the benchmark's owners connected."""
        rows = self.filter(Q(benchmark=None) | Q(benchmark=benchmark)).exclude(base_url=IMPORTED_URL)
        return rows.order_by("scripted", "name")


class Api(models.TextChoices):
    CHAT = "chat", "Chat completions"
    RESPONSES = "responses", "Responses"


def price_field() -> models.DecimalField[Any, Any]:
    """Empty: unknown. What is free costs 0."""
    return models.DecimalField(max_digits=12, decimal_places=6, null=True, blank=True)


def _within(name: str, least: float, most: float) -> models.CheckConstraint:
    """Of a parameter, as far as SQL can say it: JSON orders its types, and only numbers lie between numbers."""
    bounds = Q(**{f"params__{name}__gte": least, f"params__{name}__lte": most})
    return models.CheckConstraint(condition=Q(**{f"params__{name}": None}) | bounds, name=f"endpoint_{name}_in_bounds")


class ModelEndpoint(models.Model):
    """A model behind an OpenAI-compatible address. Its key is in the environment, or stored encrypted."""

    name = models.CharField(max_length=100, unique=True)
    """As given to ``--agent``, ``--user-model`` and ``--judge``."""
    benchmark = models.ForeignKey(
        "studio.Benchmark", on_delete=models.CASCADE, null=True, editable=False, related_name="model_endpoints"
    )
    """Whose owners connected it, for this benchmark alone; None: an administrator, for everybody."""
    base_url = models.CharField(max_length=500)
    """``https://…/v1``; ``scripted:`` for the scripted model."""
    model = models.CharField(max_length=200)
    key_env = models.CharField(
        max_length=100,
        blank=True,
        validators=[RegexValidator(KEY_VARIABLE, "Name an environment variable that ends in API_KEY.")],
    )
    sealed_key = models.TextField(blank=True, editable=False)
    """Encrypted, see evaluation.llm.stored_keys. Never shown, logged or exported."""
    api = models.CharField(max_length=20, choices=Api.choices, default=Api.CHAT)
    dialect = models.CharField(max_length=20, blank=True)
    """A key of evaluation.llm.dialects; empty: found from its address and its answers."""
    effort = models.CharField(max_length=20, blank=True)
    """Of reasoning, one of evaluation.llm.dialects.EFFORTS; empty: the service's default."""
    params = models.JSONField(default=dict, blank=True)
    """Sent with every call: temperature, max_tokens, a router's provider, …"""
    learned = models.JSONField(default=dict, blank=True, editable=False)
    """What the service refused by name, see evaluation.llm.learned."""
    input_price = price_field()
    """US dollars per million tokens of input, as all prices."""
    output_price = price_field()
    cached_price = price_field()
    """Of input read from a cache; none: as other input."""
    cache_write_price = price_field()
    """Of input written to a cache; none: as other input."""
    price_date = models.DateField(null=True, blank=True)
    """Day of which the prices are."""
    price_source = models.CharField(max_length=200, blank=True)
    timeout_seconds = models.PositiveIntegerField(default=600)
    max_concurrency = models.PositiveIntegerField(default=32)
    scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ModelEndpoints.as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(key_env="") | Q(key_env__regex=KEY_VARIABLE), name="endpoint_key_env_is_a_key"
            ),
            models.CheckConstraint(condition=Q(key_env="") | Q(sealed_key=""), name="endpoint_has_one_key"),
            models.CheckConstraint(
                condition=~Q(base_url="scripted:") | Q(scripted=True), name="endpoint_scripted_says_so"
            ),
            models.CheckConstraint(condition=Q(api__in=Api.values), name="endpoint_api_known"),
            models.CheckConstraint(condition=Q(dialect__in=list(DIALECTS)), name="endpoint_dialect_known"),
            models.CheckConstraint(condition=Q(effort__in=["", *EFFORTS]), name="endpoint_effort_known"),
            models.CheckConstraint(
                condition=Q(timeout_seconds__range=(1, LONGEST_TIMEOUT)), name="endpoint_timeout_in_bounds"
            ),
            models.CheckConstraint(
                condition=Q(max_concurrency__range=(1, MOST_AT_ONCE)), name="endpoint_concurrency_in_bounds"
            ),
            models.CheckConstraint(
                condition=Exact(
                    models.Func("params", function="jsonb_typeof", output_field=models.TextField()), "object"
                ),
                name="endpoint_params_are_an_object",
            ),
            _within("temperature", 0, HOTTEST),
            *(_within(name, 1, MOST_TOKENS) for name in LENGTHS),
            *(
                models.CheckConstraint(condition=Q(**{f"{price}__gte": 0}), name=f"endpoint_{price}_not_negative")
                for price in PRICES
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.with_effort(self.name)

    def with_effort(self, name: str) -> str:
        """``name``, or its own, as in results: with another effort it is another model."""
        name = name or self.name
        return name if not self.effort or f" · {self.effort}" in name else f"{name} · {self.effort}"

    @property
    def prices(self) -> Prices:
        """Unless it says otherwise, a scripted model is free."""
        prices = (getattr(self, name) for name in PRICES)
        read, written, cached, cache_written = (None if price is None else Decimal(str(price)) for price in prices)
        if self.scripted:
            read, written = read or Decimal(0), written or Decimal(0)
        return Prices(read, written, cached, cache_written)

    def cost_of(self, tokens: Tokens) -> Decimal | None:
        """In US dollars; None if it has no price, or the tokens are not known."""
        return self.prices.of(tokens)


def imported_endpoint(benchmark: Benchmark, model: str) -> ModelEndpoint:
    """It only bears a name: nothing is asked there."""
    name = f"{model[:60]} · imported · {benchmark.slug[:25]}"
    defaults = {"benchmark": benchmark, "base_url": IMPORTED_URL, "model": model[:200]}
    return ModelEndpoint.objects.get_or_create(name=name, defaults=defaults)[0]


CONFIGURED_FIELDS = (
    "name",
    "base_url",
    "model",
    "key_env",
    "api",
    "dialect",
    "effort",
    "params",
    *PRICES,
    "price_date",
    "price_source",
    "timeout_seconds",
    "max_concurrency",
)
"""What people enter."""
IDENTITY = ("base_url", "model", "api", "dialect", "effort", "params")
"""With another value of one of them it is another model: results stand apart, and a test says nothing of it."""
FROZEN_FIELDS = (*CONFIGURED_FIELDS, "scripted", "learned")
"""The key's variable belongs to the address: a key must not go to another one."""


def freeze_endpoint(endpoint: ModelEndpoint) -> dict[str, Any]:
    """As JSON."""
    values = {name: getattr(endpoint, name) for name in FROZEN_FIELDS}
    return values | {name: None if values[name] is None else str(values[name]) for name in (*PRICES, "price_date")}


def thaw_endpoint(endpoint: ModelEndpoint, frozen: Mapping[str, Any]) -> ModelEndpoint:
    """The endpoint as it was when frozen, whatever became of the row since; but what was learned of its service since
    holds. Not to be saved."""
    fields = endpoint._meta.concrete_fields
    now = {field.attname: getattr(endpoint, field.attname) for field in fields}
    values = {**now, **frozen, "learned": endpoint.learned}
    return ModelEndpoint.from_db(
        None, [field.attname for field in fields], [field.to_python(values[field.attname]) for field in fields]
    )
