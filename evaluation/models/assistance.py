"""Help from a model: which one a benchmark's authors may ask, what it proposed, and what people did with it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from evaluation.models.calls import RecordedCall
from evaluation.protocol.assistance import KINDS, NAMES
from studio.models.fields import OrderedJSONField


class Helper(models.Model):
    """The model that helps a benchmark's authors, and how much it may use. No endpoint, or no row: nobody helps."""

    class Period(models.TextChoices):
        MONTH = "month", "each month"
        EVER = "ever", "altogether"

    benchmark = models.OneToOneField("studio.Benchmark", on_delete=models.CASCADE, related_name="helper")
    endpoint = models.ForeignKey(
        "evaluation.ModelEndpoint", on_delete=models.PROTECT, null=True, blank=True, related_name="+"
    )
    most_tokens = models.PositiveBigIntegerField(default=0)
    """0: no limit."""
    most_cost = models.DecimalField(max_digits=12, decimal_places=2, default=0)
    """US dollars; 0: no limit."""
    period = models.CharField(max_length=5, choices=Period.choices, default=Period.MONTH)
    changed_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(most_cost__gte=0), name="helper_cost_not_negative")]


class Suggestion(models.Model):
    """One request for help and what came of it. Once it is decided a trigger in the database refuses changes."""

    class State(models.TextChoices):
        ASKED = "asked", "Requested"
        READY = "ready", "Ready"
        FAILED = "failed", "Failed"
        TAKEN = "taken", "Accepted"
        DISMISSED = "dismissed", "Dismissed"

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="suggestions")
    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="suggestions")
    """What it was asked about."""
    kind = models.CharField(max_length=10, choices=[(kind, NAMES[kind]) for kind in KINDS])
    field = models.CharField(max_length=60)
    item = models.UUIDField(null=True)
    """Of the row it is about."""
    options = OrderedJSONField(default=dict)
    """``language``, ``reference`` and ``reference_text``, as the kind needs them."""
    fresh = models.BooleanField(default=False)
    """Another answer was wanted than the one on record."""
    endpoint = models.ForeignKey("evaluation.ModelEndpoint", on_delete=models.PROTECT, related_name="+")
    model = models.CharField(max_length=320)
    """The endpoint's name and model as they were when it was asked."""
    scripted = models.BooleanField(default=False)
    """A scripted model answered."""
    request_hash = models.CharField(max_length=64)
    """Of the endpoint and the whole question: the same question is answered from the record."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.ASKED)
    problem = models.TextField(blank=True)
    """Of a failed one: what happened and what to do."""
    detail = models.TextField(blank=True)
    """Of a failed one: the failure to the letter, with addresses and what a server said, for the owners."""
    rows = OrderedJSONField(null=True)
    """List of ``Proposal``."""
    findings = OrderedJSONField(default=dict)
    """What the checks say of each row, by its place: ``{"0": [Finding, …]}``; of all together under ``""``."""
    cut = OrderedJSONField(default=list)
    """Files of which the model saw only a beginning."""
    replay_of = models.ForeignKey("self", on_delete=models.CASCADE, null=True, related_name="+")
    """Whose answer it repeats; it cost nothing."""
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    claimed_by = models.CharField(max_length=60, blank=True)
    lease_until = models.DateTimeField(null=True)
    """A worker without a sign of life until then has died; another takes it up."""
    attempts = models.PositiveSmallIntegerField(default=0)
    asked_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)
    answered_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    decided_at = models.DateTimeField(null=True)
    result = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, null=True, related_name="+")
    """The newest version that holds what was taken of it."""

    class Meta:
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


class SuggestionCall(RecordedCall):
    """A request made on the way to a suggestion. Never changed."""

    suggestion = models.ForeignKey(Suggestion, on_delete=models.CASCADE, related_name="calls")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["suggestion", "request_hash"],
                condition=Q(response__isnull=False),
                name="suggestion_call_answered_once",
            )
        ]


class SuggestionDecision(models.Model):
    """What a person did with one row of a suggestion. Never changed: where a row of a task comes from."""

    suggestion = models.ForeignKey(Suggestion, on_delete=models.CASCADE, related_name="decisions")
    row = models.PositiveSmallIntegerField()
    """Its place, from 0."""
    taken = models.BooleanField()
    changed = models.BooleanField(default=False)
    """Somebody edited it before taking it."""
    field = models.CharField(max_length=60)
    """Of the TaskSpec it went into."""
    uid = models.UUIDField(null=True)
    """Of the row it became."""
    text = models.TextField(blank=True)
    """As it was taken."""
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, null=True, related_name="+")
    """The version it came in with."""

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["suggestion", "row"], name="suggestion_row_decided_once"),
            models.CheckConstraint(
                condition=Q(taken=True) | Q(taken=False, changed=False, revision__isnull=True, text=""),
                name="suggestion_dismissed_leaves_nothing",
            ),
        ]
