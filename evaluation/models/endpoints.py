"""Model endpoints."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q

from evaluation.protocol.environment import KEY_VARIABLE


class ModelEndpoint(models.Model):
    """A model behind an OpenAI-compatible address. The key stays in the environment."""

    name = models.CharField(max_length=100, unique=True)
    """As given to ``--agent``, ``--user-model`` and ``--judge``."""
    base_url = models.CharField(max_length=500)
    """``https://…/v1``; ``scripted:`` for the scripted model."""
    model = models.CharField(max_length=200)
    key_env = models.CharField(
        max_length=100,
        blank=True,
        validators=[RegexValidator(KEY_VARIABLE, "Name an environment variable that ends in API_KEY.")],
    )
    params = models.JSONField(default=dict, blank=True)
    """Sent with every call: temperature, max_tokens, …"""
    input_price = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    """US dollars per million prompt tokens."""
    output_price = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    timeout_seconds = models.PositiveIntegerField(default=120)
    max_concurrency = models.PositiveIntegerField(default=32)
    scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(key_env="") | Q(key_env__regex=KEY_VARIABLE), name="endpoint_key_env_is_a_key"
            ),
            models.CheckConstraint(
                condition=~Q(base_url="scripted:") | Q(scripted=True), name="endpoint_scripted_says_so"
            ),
        ]

    def __str__(self) -> str:
        return self.name
