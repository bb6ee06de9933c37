"""Audits: people judge again what a judge decided, without seeing its answer.

Nothing here knows where a decision came from: a Packet is frozen by whoever opens the audit, and
``source`` is opaque.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from studio.models.fields import OrderedJSONField


class AuditCampaign(models.Model):
    """A sample of decisions for people to judge."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="audits")
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    source = models.CharField(max_length=100, blank=True)
    """What was sampled, opaque here (``pilot:12``)."""
    seed = models.PositiveIntegerField(default=0)
    overlap = models.PositiveSmallIntegerField(default=1)
    """How many people judge each packet."""
    auditors = models.ManyToManyField("studio.User", blank=True, related_name="audits")
    """Nobody assigned: every auditor of the benchmark."""
    scripted = models.BooleanField(default=False)
    """A scripted model decided: practice, never evidence."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.CheckConstraint(condition=Q(overlap__gte=1), name="audit_overlap_at_least_1")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("annotations:campaign", args=[self.pk])


class Packet(models.Model):
    """Exactly what an auditor sees of one decision and, sealed beside it, what the judge decided. Frozen."""

    campaign = models.ForeignKey(AuditCampaign, on_delete=models.CASCADE, related_name="packets")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=20, choices=[(k, k) for k in ("satisfaction", "follow_up", "checklist")])
    stratum = models.CharField(max_length=100, blank=True)
    sampling_weight = models.FloatField(default=1.0)
    """How many decisions of the population it represents."""
    content = OrderedJSONField(db_column="shown")
    """A ``PacketContent``: all that the page may render before the judgment."""
    sealed = OrderedJSONField()
    """A ``SealedDecision``: read only after the judgment."""
    source = models.CharField(max_length=100)
    """Opaque name of the decision (``verdict:345``)."""

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "position"], name="packet_position"),
            models.UniqueConstraint(fields=["campaign", "source"], name="packet_once"),
        ]


class Judgment(models.Model):
    """One auditor's answer. Append-only: an undo adds the next number."""

    class Answer(models.TextChoices):
        YES = "yes", "Yes"
        NO = "no", "No"
        UNSURE = "unsure", "Unsure"
        UNDONE = "undone", "Undone"

    packet = models.ForeignKey(Packet, on_delete=models.CASCADE, related_name="judgments")
    auditor = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="judgments")
    number = models.PositiveIntegerField()
    """From 1; an auditor's highest number counts for a packet."""
    answer = models.CharField(max_length=10, choices=Answer.choices)
    evidence = OrderedJSONField(default=list, blank=True)
    comment = models.TextField(blank=True)
    milliseconds = models.PositiveIntegerField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["packet", "auditor", "number"], name="judgment_number"),
            models.CheckConstraint(
                condition=Q(answer__in=["yes", "no", "unsure", "undone"]), name="judgment_answer_known"
            ),
        ]


class Adjudication(models.Model):
    """The final decision where auditors differ. The newest counts."""

    packet = models.ForeignKey(Packet, on_delete=models.CASCADE, related_name="adjudications")
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    decision = models.BooleanField()
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]


class Consensus(models.Model):
    """One row per packet that enough people judged, recomputed whenever its inputs change."""

    packet = models.OneToOneField(Packet, on_delete=models.CASCADE, related_name="consensus")
    decision = models.BooleanField(null=True)
    """Null: auditors differ and nobody adjudicated, or all were unsure."""
    judged_by = models.PositiveSmallIntegerField()
    adjudicated = models.BooleanField(default=False)
    updated_at = models.DateTimeField(auto_now=True)
