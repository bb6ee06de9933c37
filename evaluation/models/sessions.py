"""Sessions with their turns, tool calls, intent statuses and workspace snapshots."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.fields.json import KeyTextTransform
from django.urls import reverse

from evaluation.models.endpoints import ModelEndpoint
from evaluation.models.leased import Leased, LeasedRows
from evaluation.models.pilots import Pilot, Role, Run
from evaluation.protocol.modes import Arm
from studio.domain.opening_message import EnvironmentEvent, Incoming
from studio.models.fields import OrderedJSONField
from studio.models.packing import DigestField, PackedJSONField, PackedTextField

PARTS = ("agent", "user", "judge")
"""Who uses tokens; for each, ``Session`` has a column."""
ALL_TOKENS = F("agent_tokens") + F("user_tokens") + F("judge_tokens")


class Sessions(LeasedRows["Session"]):
    def of(self, *pilots: Pilot | int) -> Self:
        """Those that ran in the pilots, and those they took over."""
        taken = Pilot.taken_sessions.through.objects.filter(pilot__in=pilots).values("session")
        return self.filter(Q(run__pilot__in=pilots) | Q(pk__in=taken))

    def scored(self) -> Self:
        """Without those that ran an ablated task without its earlier sessions."""
        return self.exclude(run__arm=Arm.WITHOUT)

    def named(self) -> Self:
        """Annotated with what names each: pilot, persona, task, run and arm; in the pilot's order."""
        return self.annotate(
            arm=F("run__arm"),
            pilot_number=F("run__pilot__number"),
            task_id=KeyTextTransform("task_id", "revision__spec"),
            task_title=KeyTextTransform("title", "revision__spec"),
            run_number=F("run__number"),
            persona_id=F("run__persona_revision__persona"),
            persona_name=F("run__persona_revision__persona__name"),
            persona_user=F("run__persona_revision__persona__user_id"),
        ).order_by("run__persona_revision__persona__position", "persona_id", "position", "arm", "run_number")


class Session(Leased):
    """One execution of one task, resumable at its last stored turn."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        AWAITING = "awaiting", "Waiting for the person in a seat"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed by the agent"
        ERROR = "error", "Technical failure"
        CANCELLED = "cancelled", "Cancelled"

    LEASED = State.RUNNING

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="sessions", db_index=False)
    revision = models.ForeignKey("studio.Revision", on_delete=models.PROTECT, related_name="sessions")
    position = models.PositiveIntegerField()
    """Order in the episode; within the run, sessions follow one another by it."""
    content = models.CharField(max_length=64, blank=True)
    """``content_hash`` of all that its score depends on: it is evidence for this, and for nothing else. Empty for
    imported results."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    reason = models.TextField(blank=True)
    """Why it failed or stopped."""
    blocked = models.TextField(blank=True)
    """Why its user could not go on, if its conversation ended so: a suspected defect of the task."""
    failure = models.CharField(max_length=60, blank=True)
    """Class of the error that stopped it for a reason of our own."""
    asking = models.CharField(max_length=5, blank=True, choices=[(part, part) for part in PARTS])
    """Whose model it asks, while it runs."""
    asking_since = models.DateTimeField(null=True)
    """When it first asked that one, after another or after a start."""
    retry_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    """When the outage that stops it began; None after each stored turn."""
    turn_count = models.PositiveSmallIntegerField(default=0)
    """In a rehearsal, one more may be stored: a turn whose user has not answered."""
    covered = models.PositiveSmallIntegerField(null=True)
    """Intents completed or inferred."""
    intent_count = models.PositiveSmallIntegerField(null=True)
    comp_compat = models.FloatField(null=True)
    comp_strict = models.FloatField(null=True)
    ungraded = models.PositiveSmallIntegerField(default=0)
    """Checklist items whose grader is missing or broken."""
    calls = models.PositiveIntegerField(default=0)
    """Answered model calls; like the next seven, stored with each call."""
    agent_tokens = models.PositiveBigIntegerField(default=0)
    """Prompt and completion, as far as the services tell them."""
    user_tokens = models.PositiveBigIntegerField(default=0)
    judge_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    assumed_tokens = models.PositiveBigIntegerField(default=0)
    """Of calls whose services told nothing; only budgets count them."""
    assumed_cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    reserved = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    """What the call under way costs at most, where a budget in dollars has to hold it; nothing without a lease."""
    unpriced = models.PositiveIntegerField(default=0)
    """Answered calls of unknown cost: the model has no price, or its service did not tell what was used."""
    compat_tokens = models.PositiveBigIntegerField(default=0)
    """On which the scoring mode relies. What both rely on is paid once."""
    strict_tokens = models.PositiveBigIntegerField(default=0)
    graded_strict_at = models.DateTimeField(null=True)
    graded_compat_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    left = models.ForeignKey("Snapshot", on_delete=models.RESTRICT, null=True, related_name="+")
    """What it left to later sessions, if its agent did something after the last turn."""
    closing = OrderedJSONField(default=list)
    """What its agent did beside the conversation after the last turn; as ``Turn.aside``."""

    objects = Sessions.as_manager()

    class Meta:
        ordering = ["run", "position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="session_position"),
            models.UniqueConstraint(fields=["run", "revision"], name="session_task_once"),
        ]
        indexes = [
            models.Index(
                fields=["state", "lease_until"],
                name="session_open",
                condition=Q(state__in=["waiting", "running"]),
            ),
            models.Index(fields=["queued_at"], name="session_queued", condition=Q(queued_at__isnull=False)),
            models.Index(
                fields=["retry_at"], name="session_stopped", condition=Q(state="error", retry_at__isnull=False)
            ),
            models.Index(
                fields=["run"], name="session_ungraded", condition=Q(state="finished", graded_compat_at__isnull=True)
            ),
        ]

    def get_absolute_url(self) -> str:
        return reverse("evaluation:session", args=[self.pk])

    @property
    def pilot(self) -> Pilot:
        """That it runs in. Rehearsals and probes run in none."""
        assert self.run.pilot is not None
        return self.run.pilot

    def endpoint(self, role: Role) -> ModelEndpoint | None:
        """As it was when its pilot or validation started. None: a person does it, or nobody has to."""
        if self.run.pilot is not None:
            return self.run.pilot.endpoint(role)
        if not self.is_rehearsal:
            return None if role == "user_model" else self.probe.asking.endpoint(role)
        row = self.rehearsal
        return row.agent if role == "agent" else row.judge

    @property
    def is_rehearsal(self) -> bool:
        return hasattr(self, "rehearsal")

    @property
    def tokens(self) -> dict[str, int]:
        """Paid, by part."""
        return {part: getattr(self, f"{part}_tokens") for part in PARTS}

    @property
    def total_tokens(self) -> int:
        return sum(self.tokens.values())


class SessionIntent(models.Model):
    """The terminal status of one hidden intent in one session."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="intents", db_index=False)
    index = models.PositiveSmallIntegerField()
    """1-based position in the task."""
    uid = models.UUIDField()
    status = models.CharField(max_length=10, choices=[(s, s) for s in ("completed", "inferred", "provided")])
    turn = models.PositiveSmallIntegerField()
    """0: provided from the start."""

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["session", "index"], name="one_terminal_status"),
            models.CheckConstraint(
                condition=Q(status__in=["completed", "inferred", "provided"]), name="terminal_status_known"
            ),
        ]


class Snapshot(models.Model):
    """The workspace and the simulated apps at one moment of a run, by content."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="snapshots", db_index=False)
    manifest = PackedJSONField(default=dict)
    """Path → sha256 of a Blob."""
    sha256 = DigestField()
    """Of the manifest and the apps; equal states share a row."""
    apps = OrderedJSONField(default=dict)
    """Simulated app → sha256 of a Blob with its state."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "sha256"], name="snapshot_once")]


class Turn(models.Model):
    """One exchange, stored when it is over: the checkpoint from which a session resumes."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns", db_index=False)
    number = models.PositiveSmallIntegerField()
    user_message = PackedTextField()
    """What the agent read: the user's words, or the text of ``event``."""
    event = OrderedJSONField(null=True)
    """What opened the session, if nobody said it: ``{"kind", "payload", "note"}``."""
    reply = PackedTextField()
    empty = models.BooleanField(default=False)
    """The agent said nothing in its reply."""
    note = models.TextField(blank=True)
    """Why the agent's turn ended early, if it did."""
    agent_state = PackedJSONField(default=dict)
    next_message = PackedTextField(blank=True, default="")
    """The user's answer; empty after the last turn."""
    next_style = models.CharField(max_length=8, blank=True)
    """How it was put, if it was wanted in the persona's voice: ``in-voice``, or ``verbatim`` if no phrasing held."""
    missing = models.CharField(max_length=100, blank=True)
    """What the agent could not go on without and the user could not give."""
    aside = OrderedJSONField(default=list)
    """What the agent did beside the conversation: ``{"title", "text"}`` each."""
    thoughts = PackedJSONField(default=list)
    """The agent's reasoning, as far as it is readable: ``{"text", "tokens"}`` for each answer that had some. Never for
    users, judges or checks."""
    remarks = PackedJSONField(default=list)
    """What the agent said beside its work: ``{"text", "calls"}``, after how many of the turn's calls."""
    snapshot = models.ForeignKey(Snapshot, on_delete=models.RESTRICT, related_name="+")
    agent_tokens = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="turn_number")]

    @property
    def thought_tokens(self) -> int:
        """As far as told."""
        return sum(each["tokens"] or 0 for each in self.thoughts)

    @property
    def incoming(self) -> Incoming:
        return self.user_message if self.event is None else EnvironmentEvent(**self.event)


class ToolCall(models.Model):
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_calls", db_index=False)
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    arguments = PackedJSONField(default=dict)
    result = PackedTextField(blank=True, default="")
    ok = models.BooleanField(default=True)
    key = DigestField(blank=True, default="")
    """Idempotency key; see ``MadeCall``."""
    milliseconds = models.PositiveIntegerField(default=0)
    changes = models.JSONField(default=list)
    """What it changed in an app, a sentence each."""
    effects = OrderedJSONField(default=list)
    """The same as records, for graders: ``{app, table, key, before, after}``."""

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["turn", "position"], name="tool_call_position")]


class TurnWords(models.Model):
    """What a turn is found by. Its texts are packed, so the database cannot read them (``evaluation.store.words``)."""

    turn = models.OneToOneField(Turn, on_delete=models.CASCADE, primary_key=True, related_name="words")
    said = SearchVectorField()
    """By the user, the agent and its tools."""
    thought = SearchVectorField(null=True)
    """By the agent; None if it had no readable thoughts."""

    class Meta:
        indexes = [
            GinIndex(fields=["said"], name="turn_said"),
            GinIndex(fields=["thought"], name="turn_thought", condition=Q(thought__isnull=False)),
        ]


class TurnNote(models.Model):
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "pk"]


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
