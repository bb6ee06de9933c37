"""Model endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Self

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from evaluation.llm.endpoint import Prices
from evaluation.protocol.environment import KEY_VARIABLE
from evaluation.protocol.participants import Tokens
from studio.models import Benchmark

IMPORTED_URL = "imported:"
"""Of a name that came with imported results: nothing can be asked there."""


class ModelEndpoints(models.QuerySet["ModelEndpoint"]):
    def usable_in(self, benchmark: Benchmark) -> Self:
        """Those of the studio, and those that the benchmark's owners connected."""
        rows = self.filter(Q(benchmark=None) | Q(benchmark=benchmark)).exclude(base_url=IMPORTED_URL)
        return rows.order_by("scripted", "name")


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
    params = models.JSONField(default=dict, blank=True)
    """Sent with every call: temperature, max_tokens, …"""
    input_price = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    """US dollars per million prompt tokens."""
    output_price = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    timeout_seconds = models.PositiveIntegerField(default=120)
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
        ]

    def __str__(self) -> str:
        return self.name

    def cost_of(self, tokens: Tokens) -> Decimal:
        """In US dollars."""
        return Prices(Decimal(self.input_price), Decimal(self.output_price)).of(tokens)


CONFIGURED_FIELDS = (
    "name",
    "base_url",
    "model",
    "key_env",
    "params",
    "input_price",
    "output_price",
    "timeout_seconds",
    "max_concurrency",
)
"""What people enter."""
FROZEN_FIELDS = (*CONFIGURED_FIELDS, "scripted")
"""The key's variable belongs to the address: a key must not go to another one."""


def freeze_endpoint(endpoint: ModelEndpoint) -> dict[str, Any]:
    """As JSON."""
    values = {name: getattr(endpoint, name) for name in FROZEN_FIELDS}
    return values | {name: str(values[name]) for name in ("input_price", "output_price")}


def thaw_endpoint(endpoint: ModelEndpoint, frozen: Mapping[str, Any]) -> ModelEndpoint:
    """The endpoint as it was when frozen, whatever became of the row since. Not to be saved."""
    fields = endpoint._meta.concrete_fields
    now = {field.attname: getattr(endpoint, field.attname) for field in fields}
    return ModelEndpoint.from_db(
        None,
        [field.attname for field in fields],
        [field.to_python(frozen.get(field.attname, now[field.attname])) for field in fields],
    )
