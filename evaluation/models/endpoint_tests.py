"""Tests of model endpoints."""

from __future__ import annotations

from typing import Any

from django.db import models

from evaluation.models.endpoints import IDENTITY, ModelEndpoint
from evaluation.models.leased import Leased, LeasedRows, Requested


class EndpointTest(Requested, Leased):
    """What a model showed in the exchange of ``evaluation.endpoints.tryout``. The newest one counts."""

    endpoint = models.ForeignKey(ModelEndpoint, on_delete=models.CASCADE, related_name="tests")
    settings = models.JSONField()
    """Its ``IDENTITY`` as it was."""
    lines = models.JSONField(default=list)
    """Those played so far, see ``Line``."""
    answered_by = models.JSONField(default=dict)
    """The model's own id and fingerprint, and the provider behind a router, where told."""
    usage = models.JSONField(default=dict)
    """``{"tokens": …, "cost": …}`` of the whole exchange: tokens by kind, dollars as text; null: unknown."""

    objects = LeasedRows["EndpointTest"].as_manager()

    class Meta:
        ordering = ["-pk"]

    def is_of(self, endpoint: ModelEndpoint) -> bool:
        """Whether the endpoint is still set as it was."""
        return bool(self.settings == settings_of(endpoint))


def settings_of(endpoint: ModelEndpoint) -> dict[str, Any]:
    return {name: getattr(endpoint, name) for name in IDENTITY}
