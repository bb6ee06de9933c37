"""Second opinions of a benchmark's assistant model, as the checks read them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.leased import Leased, LeasedRows


class OpinionRequest(Leased):
    """Asks the assistant model about the newest version of a task, in a worker."""

    class State(models.TextChoices):
        ASKED = "asked", "Asked"
        ANSWERED = "answered", "Answered"
        FAILED = "failed", "Failed"

    LEASED = State.ASKED

    task = models.OneToOneField(
        "studio.Task", on_delete=models.CASCADE, primary_key=True, related_name="opinion_request"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASKED)
    asked_at = models.DateTimeField()
    """Of the newest version; a worker that began before asks once more."""
    reserved = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    """As of a ``Proposal``."""
    problem = models.TextField(blank=True)
    """If failed: what happened and what to do."""

    objects = LeasedRows["OpinionRequest"].as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["asked", "answered", "failed"]), name="opinion_state_known"),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(problem=""), name="opinion_failure_says_why"),
        ]
        indexes = [models.Index(fields=["asked_at"], name="opinion_open", condition=Q(state="asked"))]


class SecondOpinion(models.Model):
    """What a model said about a text (``studio.domain.checks.opinions``); the same text is not asked about again."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="+")
    endpoint = models.ForeignKey("evaluation.ModelEndpoint", on_delete=models.RESTRICT, related_name="+")
    key = models.CharField(max_length=64)
    """Of the question."""
    degree = models.CharField(max_length=10, blank=True)
    quote = models.TextField(blank=True)
    count = models.PositiveIntegerField(default=0)
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["benchmark", "endpoint", "key"], name="opinion_once")]
