"""Agents as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models.functions import MD5, Cast

from evaluation.models.endpoints import ModelEndpoint

REACT = "react"
BASELINES = ("oracle", "no-op", "over-asker")
"""Kinds that show something about tasks and judges. Their sessions are no evidence that an agent did the tasks."""


@dataclass(frozen=True)
class FrozenAgent:
    """An agent as it was when a pilot started."""

    name: str
    kind: str
    params: Mapping[str, str]


class Agent(models.Model):
    """What can be piloted: a kind (``evaluation.agents``), its parameters, and the model it asks."""

    name = models.CharField(max_length=220, unique=True)
    """As given to ``--agent``. One of the kind ``react`` without parameters is called like its model."""
    kind = models.CharField(max_length=40, default=REACT)
    params = models.JSONField(default=dict, blank=True)
    endpoint = models.ForeignKey(ModelEndpoint, on_delete=models.CASCADE, related_name="agents")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                "kind",
                "endpoint",
                MD5(Cast("params", models.TextField())),  # programs are longer than an index takes
                name="agent_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name


def freeze_agent(agent: Agent) -> dict[str, Any]:
    """As JSON, without its endpoint, which is frozen by itself."""
    return {"name": agent.name, "kind": agent.kind, "params": agent.params}
