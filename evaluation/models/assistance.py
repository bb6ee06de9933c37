"""The assistant model of a benchmark, its proposals, and what authors decided about them."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.leased import Leased, LeasedRows
from evaluation.protocol.assistance import KINDS, NAMES
from studio.models.fields import OrderedJSONField


class AssistantModel(models.Model):
    """The model that helps a benchmark's authors, and its budget. Without an endpoint, AI help is off."""

    class Period(models.TextChoices):
        MONTH = "month", "each month"
        EVER = "ever", "altogether"

    benchmark = models.OneToOneField("studio.Benchmark", on_delete=models.CASCADE, related_name="assistant_model")
    endpoint = models.ForeignKey(
        "evaluation.ModelEndpoint", on_delete=models.RESTRICT, null=True, blank=True, related_name="+"
    )
    max_tokens = models.PositiveBigIntegerField(default=0, db_column="most_tokens")
    """0 means no limit."""
    max_cost = models.DecimalField(max_digits=12, decimal_places=2, default=0, db_column="most_cost")
    """US dollars; 0 means no limit."""
    period = models.CharField(max_length=5, choices=Period.choices, default=Period.MONTH)
    changed_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "evaluation_helper"
        constraints = [models.CheckConstraint(condition=Q(max_cost__gte=0), name="helper_cost_not_negative")]


class Proposal(Leased):
    """One request to the assistant model and its answer. Immutable once decided (database trigger)."""

    class State(models.TextChoices):
        REQUESTED = "asked", "Requested"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"
        ACCEPTED = "taken", "Accepted"
        DISMISSED = "dismissed", "Dismissed"

    LEASED = State.REQUESTED

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="proposals")
    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="proposals")
    """The version the request is about."""
    kind = models.CharField(max_length=10, choices=[(kind, NAMES[kind]) for kind in KINDS])
    field = models.CharField(max_length=60)
    item = models.UUIDField(null=True)
    """uid of the row the request is about."""
    options = OrderedJSONField(default=dict)
    """``language``, ``reference`` and ``reference_text``, as the kind needs them."""
    fresh = models.BooleanField(default=False)
    """A new answer was requested although one is on record."""
    endpoint = models.ForeignKey("evaluation.ModelEndpoint", on_delete=models.RESTRICT, related_name="+")
    model = models.CharField(max_length=320)
    """The endpoint's name and model at the time of the request."""
    scripted = models.BooleanField(default=False)
    request_hash = models.CharField(max_length=64)
    """Over the endpoint and the whole prompt, with files' hashes for their texts; identical requests are answered
    from the record."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.REQUESTED)
    problem = models.TextField(blank=True)
    """If failed: what happened and what to do."""
    detail = models.TextField(blank=True)
    """If failed: the full error with addresses and server replies, for owners only."""
    rows = OrderedJSONField(null=True)
    """List of ``ProposedChange``."""
    findings = OrderedJSONField(default=dict)
    """Findings by 0-based row, ``{"0": [Finding, …]}``; those about all rows together under ``""``."""
    truncated_files = OrderedJSONField(default=list, db_column="cut")
    """Paths of files the model saw only in part."""
    replay_of = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="+")
    """The proposal whose recorded answer this one repeats, free of charge."""
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0, null=True)
    """None: unknown."""
    reserved = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    """What the call under way costs at most; counts while its lease holds."""
    milliseconds = models.PositiveIntegerField(default=0)
    requested_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+", db_column="asked_by_id")
    requested_at = models.DateTimeField(auto_now_add=True, db_column="asked_at")
    answered_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    result = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, null=True, related_name="+")
    """The newest version that contains accepted rows."""

    objects = LeasedRows["Proposal"].as_manager()

    class Meta:
        db_table = "evaluation_suggestion"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["asked", "ready", "failed", "taken", "dismissed"]), name="suggestion_state_known"
            ),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="suggestion_kind_known"),
            models.CheckConstraint(
                condition=Q(state__in=["taken", "dismissed"], decided_by__isnull=False, decided_at__isnull=False)
                | Q(state__in=["asked", "ready", "failed"], decided_by__isnull=True, decided_at__isnull=True),
                name="suggestion_decided_by_somebody",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["ready", "taken"]) | Q(rows__isnull=False), name="suggestion_ready_has_rows"
            ),
            models.CheckConstraint(
                condition=Q(result__isnull=True) | Q(state__in=["ready", "taken"]), name="suggestion_result_of_taken"
            ),
            models.CheckConstraint(condition=~Q(state="failed") | ~Q(problem=""), name="suggestion_failure_says_why"),
            models.UniqueConstraint(
                fields=["task", "request_hash"], condition=Q(state="asked"), name="suggestion_asked_once"
            ),
        ]
        indexes = [
            models.Index(fields=["task"], name="suggestion_open", condition=Q(state__in=["asked", "ready", "failed"])),
            models.Index(fields=["request_hash"], name="suggestion_by_request"),
        ]

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class ProposalDecision(models.Model):
    """What an author decided about one row of a proposal. Immutable: it records the origin of a row's text."""

    proposal = models.ForeignKey(
        Proposal, on_delete=models.CASCADE, related_name="decisions", db_column="suggestion_id"
    )
    row = models.PositiveSmallIntegerField()
    """0-based."""
    accepted = models.BooleanField(db_column="taken")
    edited = models.BooleanField(default=False, db_column="changed")
    """The author edited the text before accepting it."""
    field = models.CharField(max_length=60)
    """Field of the TaskSpec the text went into."""
    uid = models.UUIDField(null=True)
    """uid of the task's row that now holds the text."""
    text = models.TextField(blank=True)
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, null=True, related_name="+")
    """The version that introduced the text."""

    class Meta:
        db_table = "evaluation_suggestiondecision"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["proposal", "row"], name="suggestion_row_decided_once"),
            models.CheckConstraint(
                condition=Q(accepted=True) | Q(accepted=False, edited=False, revision__isnull=True, text=""),
                name="suggestion_dismissed_leaves_nothing",
            ),
        ]
