"""Tool calls of turns that are not stored yet."""

from __future__ import annotations

from django.db import models

from evaluation.models.sessions import Session
from studio.models.fields import OrderedJSONField


class MadeCall(models.Model):
    """A tool call as it is made. Once its turn is stored, ``ToolCall`` has it and this row goes, unless its effect is
    outside of the session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="made_calls", db_index=False)
    turn = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=64)
    """Idempotency key: of session, turn, place in the turn, tool and arguments."""
    name = models.CharField(max_length=200)
    outside = models.BooleanField(default=False)
    record = OrderedJSONField(null=True)
    """What it gave; None while it is under way, or if the worker died meanwhile."""
    output = models.TextField(blank=True)
    """What it has said so far, while it is under way."""
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "key"], name="made_call_once")]
