"""Judgings: which judge decided what of a session with which prompts, and which of them scores a pilot."""

from __future__ import annotations

from django.db import models
from django.db.models import OuterRef, Q, Subquery

from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.leased import Leased, LeasedRows
from evaluation.models.pilots import PROTOCOL_CHOICES, Pilot
from evaluation.models.sessions import Session
from evaluation.protocol.versions import ProtocolName


class Purpose(models.TextChoices):
    SCORING = "scoring", "As it ran"
    REJUDGING = "rejudging", "Judged again"
    STABILITY = "stability", "Stability"
    AUDIT = "audit", "Audit"


class JudgingRound(models.Model):
    """All judgings of a pilot by one judge with one version of the prompts. Immutable.

    The first is made as the pilot runs, the others when its stored sessions are judged again.
    """

    pilot = models.ForeignKey(Pilot, on_delete=models.CASCADE, related_name="rounds")
    number = models.PositiveIntegerField()
    """From 1, within the pilot."""
    purpose = models.CharField(max_length=9, choices=Purpose.choices)
    judge = models.JSONField(default=dict)
    """Of the checklist, as frozen by ``freeze_endpoint``."""
    prompts = models.JSONField(default=dict)
    """By name: ``{"checklist": {"version", "sha256"}}``."""
    protocol = models.CharField(max_length=7, choices=PROTOCOL_CHOICES, default=ProtocolName.PAPER.value)
    """What the judge sees; in the first round that of the pilot."""
    samples = models.PositiveSmallIntegerField(default=1)
    every_turn = models.BooleanField(default=False)
    """Whether strict items are judged in later turns too, after they were met."""
    batched = models.BooleanField(default=False)
    """Whether its questions are sent in batches."""
    estimate = models.JSONField(default=dict)
    """Before it started: ``{"calls", "tokens", "cost", "recorded"}``; empty for the first."""
    source = models.CharField(max_length=100, blank=True)
    """Of an audit: which one (``audit:12``)."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["pilot", "number"], name="round_number"),
            models.CheckConstraint(condition=Q(samples__gte=1), name="round_samples_at_least_1"),
            models.CheckConstraint(
                condition=Q(number=1, purpose="scoring") | (Q(number__gt=1) & ~Q(purpose="scoring")),
                name="round_first_is_scoring",
            ),
        ]

    def __str__(self) -> str:
        return f"Round {self.number}"


class Judging(Leased):
    """One judge with one version of its prompts, applied to one session. What identifies it never changes."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        BATCHED = "batched", "In a batch"
        FINISHED = "finished", "Finished"
        ERROR = "error", "Technical failure"

    LEASED = State.RUNNING

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="judgings", db_index=False)
    round = models.ForeignKey(JudgingRound, on_delete=models.CASCADE, null=True, related_name="judgings")
    """Null in a rehearsal."""
    purpose = models.CharField(max_length=9, choices=Purpose.choices, default=Purpose.SCORING)
    scoring = models.CharField(max_length=6, blank=True, choices=[("compat", "compat"), ("strict", "strict")])
    """The mode in which it judges the checklist; empty if it judges intents."""
    sample = models.PositiveSmallIntegerField(default=1)
    endpoint = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, null=True, related_name="+")
    """Null in a rehearsal that a person judges."""
    judge = models.JSONField()
    """The endpoint as it was (``freeze_endpoint``)."""
    prompts = models.JSONField(default=dict)
    """Of this judging: ``{"satisfaction": {"version", "sha256"}}``."""
    asked = models.JSONField(null=True)
    """Of an audit of single decisions: its questions, as written from ``AskedQuestion``. Null: all that a judge is
    asked of a session."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    reason = models.TextField(blank=True)
    """Why it stopped."""
    scripted = models.BooleanField(default=False)
    """A scripted model answered: never evidence."""
    replayed = models.PositiveIntegerField(default=0)
    """Requests that the record answered."""
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    objects = LeasedRows["Judging"].as_manager()

    class Meta:
        ordering = ["round", "session", "scoring", "sample"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "round", "scoring", "sample"], name="judging_once", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(endpoint__isnull=False) | Q(round__isnull=True), name="judging_of_a_round_has_its_model"
            ),
            models.CheckConstraint(condition=Q(sample__gte=1), name="judging_sample_from_1"),
        ]
        indexes = [
            models.Index(fields=["queued_at"], name="judging_queued", condition=Q(queued_at__isnull=False)),
            models.Index(
                fields=["state", "lease_until"], name="judging_open", condition=Q(state__in=["waiting", "running"])
            ),
        ]


class ScoringChoice(models.Model):
    """Somebody chose the round that scores a pilot, and how its verdicts count. The latest one holds. Immutable."""

    pilot = models.ForeignKey(Pilot, on_delete=models.CASCADE, related_name="scoring_choices")
    round = models.ForeignKey(JudgingRound, on_delete=models.CASCADE, related_name="+")
    rules = models.JSONField()
    """Names of credit rules: ``{"compat": {"turns", "samples"}, "strict": …}`` (``evaluation.grading.credit``)."""
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["pilot", "-id"], name="scoring_choice_latest")]


def scoring_round(pilot: str) -> Subquery:
    """Key of the round that scores a pilot. ``pilot`` is the lookup path from the outer query."""
    return Subquery(ScoringChoice.objects.filter(pilot=OuterRef(pilot)).order_by("-pk").values("round")[:1])
