"""Decisions of judges and rules."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.calls import ModelCall
from evaluation.models.sessions import Session


class Verdict(models.Model):
    """One decision with its evidence, by a judge or a rule. Immutable."""

    class Kind(models.TextChoices):
        SATISFACTION = "satisfaction", "Intent satisfied"
        FOLLOW_UP = "follow_up", "Intent asked for"
        CHECKLIST = "checklist", "Checklist item"

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="verdicts")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    scoring = models.CharField(max_length=6, blank=True, choices=[("compat", "compat"), ("strict", "strict")])
    """Of a checklist verdict."""
    turn = models.PositiveSmallIntegerField()
    index = models.PositiveSmallIntegerField()
    """1-based position of the intent, or of the item among all graded items (rubric first, then script keys)."""
    uid = models.UUIDField(null=True)
    """Of the intent or item; null for a key of a grader script."""
    label = models.TextField()
    """The intent's content, the criterion, or ``[tools] key``."""
    grader = models.CharField(max_length=10, choices=[("rubric", "rubric"), ("rule", "rule"), ("judge", "judge")])
    met = models.BooleanField(null=True)
    """Null: ungraded; ``error`` says why."""
    quote = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    supported = models.BooleanField(default=False)
    """Whether the quote occurs in what the judge saw."""
    style = models.CharField(max_length=10, blank=True)
    error = models.TextField(blank=True)
    model_call = models.ForeignKey(ModelCall, on_delete=models.CASCADE, null=True, related_name="verdicts")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["turn", "index"]
        constraints = [
            models.UniqueConstraint(fields=["session", "kind", "scoring", "turn", "index"], name="verdict_once"),
            models.CheckConstraint(
                condition=Q(kind="checklist", scoring__in=["compat", "strict"])
                | (~Q(kind="checklist") & Q(scoring="")),
                name="verdict_scoring",
            ),
        ]
