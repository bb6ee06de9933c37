"""Recorded requests to models."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.sessions import Session
from studio.models.fields import OrderedJSONField


class RecordedCall(models.Model):
    """One answered or failed request to a model.

    An answered request is not paid for again (``evaluation.call_records``). A subclass adds the row that the call was
    made for, and makes each answer unique for it.
    """

    purpose = models.CharField(max_length=20)
    turn = models.PositiveSmallIntegerField()
    endpoint = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, related_name="+")
    request_hash = models.CharField(max_length=64)
    request = OrderedJSONField()
    response = OrderedJSONField(null=True)
    """As the endpoint sent it; null if the request failed."""
    error = models.TextField(blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True


class ModelCall(RecordedCall):
    """A request made for a session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="model_calls")
    judging = models.ForeignKey("evaluation.Judging", on_delete=models.CASCADE, null=True, related_name="calls")
    """Which asked it; null if the agent did."""
    purpose = models.CharField(
        max_length=20,
        choices=[(p, p) for p in ("agent", "satisfaction", "follow_up", "checklist_compat", "checklist_strict")],
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "request_hash"], condition=Q(response__isnull=False), name="model_call_answered_once"
            ),
            models.CheckConstraint(
                condition=Q(purpose="agent", judging__isnull=True) | (~Q(purpose="agent") & Q(judging__isnull=False)),
                name="model_call_has_its_judging",
            ),
        ]
        indexes = [
            models.Index(fields=["session", "turn"], name="model_call_by_turn"),
            models.Index(fields=["request_hash"], name="model_call_by_request", condition=Q(response__isnull=False)),
        ]
