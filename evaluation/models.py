"""Pilots and what they left: append-only, but for the states that say how far they are."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse

from studio.models.fields import OrderedJSONField

KEY_ENV = r"^[A-Z][A-Z0-9_]*API_KEY$"


class ModelEndpoint(models.Model):
    """A model behind an OpenAI-compatible address. The key stays in the environment."""

    name = models.CharField(max_length=100, unique=True)
    """What ``--agent``, ``--user-model`` and ``--judge`` take."""
    base_url = models.CharField(max_length=500)
    """``https://…/v1``; ``scripted:`` for the scripted model."""
    model = models.CharField(max_length=200)
    key_env = models.CharField(
        max_length=100,
        blank=True,
        validators=[RegexValidator(KEY_ENV, "Name an environment variable that ends in API_KEY.")],
    )
    params = models.JSONField(default=dict, blank=True)
    """Sent with every call: temperature, max_tokens, …"""
    input_price = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    """US dollars for a million prompt tokens."""
    output_price = models.DecimalField(max_digits=12, decimal_places=6, default=0)
    timeout_seconds = models.PositiveIntegerField(default=120)
    max_concurrency = models.PositiveIntegerField(default=32)
    scripted = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(key_env="") | Q(key_env__regex=KEY_ENV), name="endpoint_key_env_is_a_key"
            ),
            models.CheckConstraint(
                condition=~Q(base_url="scripted:") | Q(scripted=True), name="endpoint_scripted_says_so"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Pilot(models.Model):
    """A model run over tasks, k times. Its state follows from its sessions."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        STOPPED = "stopped", "Stopped by our own failures"
        CANCELLED = "cancelled", "Cancelled"

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="pilots")
    number = models.PositiveIntegerField()
    """1, 2, … within the benchmark."""
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, related_name="+")
    user_model = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, related_name="+")
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, related_name="+")
    runs_wanted = models.PositiveSmallIntegerField(default=1)
    limits = models.JSONField(default=dict)
    """Of a session: turns, tool calls, tokens, cost."""
    config = models.JSONField(default=dict)
    """The endpoints as they were at the start (never a key), the prompts' version."""
    scripted = models.BooleanField(default=False)
    """A scripted model played any part: never evidence."""
    drafts = models.BooleanField(default=False)
    """Some of its tasks were not approved when it started."""
    state = models.CharField(max_length=12, choices=State.choices, default=State.WAITING)
    scores = models.JSONField(null=True)
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="pilot_number"),
            models.CheckConstraint(condition=Q(runs_wanted__gte=1), name="pilot_runs_at_least_1"),
        ]

    def __str__(self) -> str:
        return f"Pilot {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("evaluation:pilot", args=[self.pk])


class Run(models.Model):
    """One trajectory through one persona's episode: sessions in order over one workspace."""

    pilot = models.ForeignKey(Pilot, on_delete=models.CASCADE, related_name="runs")
    persona_revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField()
    """1 … runs_wanted."""
    graded_at = models.DateTimeField(null=True)
    """When compat grading, which needs the episode's end, was done."""

    class Meta:
        ordering = ["persona_revision__persona__position", "number"]
        constraints = [models.UniqueConstraint(fields=["pilot", "persona_revision", "number"], name="run_number")]


class Session(models.Model):
    """One task executed. Resumable at its last stored turn."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed by the agent"
        ERROR = "error", "Our own failure"
        CANCELLED = "cancelled", "Cancelled"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="sessions")
    revision = models.ForeignKey("studio.Revision", on_delete=models.PROTECT, related_name="sessions")
    position = models.PositiveIntegerField()
    """Order within the run."""
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    reason = models.TextField(blank=True)
    """Why it failed or could not go on."""
    claimed_by = models.CharField(max_length=200, blank=True)
    lease_until = models.DateTimeField(null=True)
    """A running session whose lease is over may be claimed by another worker."""
    attempts = models.PositiveSmallIntegerField(default=0)
    retry_at = models.DateTimeField(null=True)
    turn_count = models.PositiveSmallIntegerField(default=0)
    covered = models.PositiveSmallIntegerField(null=True)
    """Intents completed or inferred."""
    intent_count = models.PositiveSmallIntegerField(null=True)
    comp_compat = models.FloatField(null=True)
    comp_strict = models.FloatField(null=True)
    ungraded = models.PositiveSmallIntegerField(default=0)
    """Checklist items whose grader is missing or broken."""
    tokens = models.JSONField(default=dict)
    """``{"agent", "user", "judge", "judge_compat", "judge_strict"}``: totals of prompt and completion."""
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    graded_strict_at = models.DateTimeField(null=True)
    graded_compat_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

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
            )
        ]

    def get_absolute_url(self) -> str:
        return reverse("evaluation:session", args=[self.pk])


class SessionIntent(models.Model):
    """The terminal status of one hidden intent in one session: exactly one, once it has one."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="intents")
    index = models.PositiveSmallIntegerField()
    """1-based position in the task."""
    uid = models.UUIDField()
    status = models.CharField(max_length=10, choices=[(s, s) for s in ("completed", "inferred", "provided")])
    turn = models.PositiveSmallIntegerField()
    """0: the task gave it from the start."""

    class Meta:
        ordering = ["index"]
        constraints = [
            models.UniqueConstraint(fields=["session", "index"], name="one_terminal_status"),
            models.CheckConstraint(
                condition=Q(status__in=["completed", "inferred", "provided"]), name="terminal_status_known"
            ),
        ]


class Snapshot(models.Model):
    """The workspace at a moment of a run, by content."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="snapshots")
    manifest = OrderedJSONField(default=dict)
    """Path → sha256 of a Blob."""
    sha256 = models.CharField(max_length=64)
    """Of the manifest: the same workspace, the same row."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "sha256"], name="snapshot_once")]


class Turn(models.Model):
    """One exchange, stored when it is over: the checkpoint a session goes on from."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveSmallIntegerField()
    user_message = models.TextField()
    reply = models.TextField()
    note = models.TextField(blank=True)
    """Why the agent's turn ended early, if it did."""
    agent_state = OrderedJSONField(default=dict)
    next_message = models.TextField(blank=True)
    """What the user answers; empty after the last turn."""
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="+")
    agent_tokens = models.PositiveIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="turn_number")]


class ToolCall(models.Model):
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="tool_calls")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    arguments = OrderedJSONField(default=dict)
    result = models.TextField(blank=True)
    ok = models.BooleanField(default=True)
    milliseconds = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["turn", "position"], name="tool_call_position")]


class ModelCall(models.Model):
    """One answered or failed request to a model. A request answered once is not paid for again."""

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="model_calls")
    purpose = models.CharField(
        max_length=20,
        choices=[(p, p) for p in ("agent", "satisfaction", "follow_up", "checklist_compat", "checklist_strict")],
    )
    turn = models.PositiveSmallIntegerField()
    endpoint = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, related_name="+")
    request_hash = models.CharField(max_length=64)
    request = OrderedJSONField()
    response = OrderedJSONField(null=True)
    """As the endpoint gave it; null: it failed."""
    error = models.TextField(blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["session", "request_hash"], condition=Q(response__isnull=False), name="model_call_answered_once"
            )
        ]
        indexes = [models.Index(fields=["session", "turn"], name="model_call_by_turn")]


class Verdict(models.Model):
    """One decision with its evidence: a judge's on an intent or a criterion, or a rule's. Never edited."""

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
    """1-based: the intent's position, or the item's among the graded ones (rubric first, then rule keys)."""
    uid = models.UUIDField(null=True)
    """Of the intent or item; null for a key of a grader script."""
    label = models.TextField()
    """The intent's content, the criterion, or ``[tools] key``."""
    grader = models.CharField(max_length=10, choices=[("rubric", "rubric"), ("rule", "rule"), ("judge", "judge")])
    met = models.BooleanField(null=True)
    """Null: ungraded, ``error`` says why."""
    quote = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    supported = models.BooleanField(default=False)
    """The quote occurs in what the judge saw."""
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


class Release(models.Model):
    """A frozen TaskPack and what stood behind it. Never changed."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40)
    manifest = OrderedJSONField()
    """``pack.json`` of the archive: tasks with their revisions, evidence, accepted exceptions."""
    sha256 = models.CharField(max_length=64)
    """Of the archive."""
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")
    exceptions = OrderedJSONField(default=list)
    """What blocked it and was accepted: ``[{"problem", "reason", "by"}]``."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "version"], name="release_version")]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"

    def get_absolute_url(self) -> str:
        return reverse("evaluation:release", args=[self.pk])


class ReleaseTask(models.Model):
    """A revision a release froze."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="tasks")
    revision = models.ForeignKey("studio.Revision", on_delete=models.PROTECT, related_name="releases")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "revision"], name="release_task_once")]


class Rehearsal(models.Model):
    """One person trying a task out, in the agent's seat or the user's. Never a pilot, never evidence: only they see it,
    and they may delete it."""

    class Seat(models.TextChoices):
        AGENT = "agent", "The assistant's seat"
        USER = "user", "The user's seat"

    class State(models.TextChoices):
        YOURS = "yours", "Your turn"
        WORKING = "working", "A model is at work"
        STOPPED = "stopped", "Stopped by our own failure"
        FINISHED = "finished", "Finished"

    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="rehearsals")
    persona_revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="rehearsals")
    seat = models.CharField(max_length=5, choices=Seat.choices)
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, null=True, related_name="+")
    """Who answers, where the person plays the user."""
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, null=True, related_name="+")
    """Who settles the intents; null: the person does, by hand."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.YOURS)
    reason = models.TextField(blank=True)
    """Why it stopped, or what ended it."""
    message = models.TextField(blank=True)
    """What the assistant is told next; empty once every intent is settled."""
    turns = OrderedJSONField(default=list)
    """What was said and decided (``evaluation.rehearsed``), the oldest first."""
    under_way = OrderedJSONField(default=dict)
    """The turn that is not over: the reply as it was written, and what the judge proposes."""
    agent_state = OrderedJSONField(default=dict)
    start_manifest = OrderedJSONField(default=dict)
    manifest = OrderedJSONField(default=dict)
    """The workspace now: path → sha256 of a Blob."""
    scripted = models.BooleanField(default=False)
    """A scripted model played a part."""
    claimed_by = models.CharField(max_length=60, blank=True)
    lease_until = models.DateTimeField(null=True)
    """A model's work without a sign of life until then has died with its process."""
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(seat="agent", agent__isnull=True, judge__isnull=False)
                | Q(seat="user", agent__isnull=False),
                name="rehearsal_has_its_models",
            )
        ]

    def get_absolute_url(self) -> str:
        return reverse("evaluation:rehearsal", args=[self.pk])


class RehearsalCall(models.Model):
    """One request to a model in a rehearsal. What was answered once is not paid for again."""

    rehearsal = models.ForeignKey(Rehearsal, on_delete=models.CASCADE, related_name="calls")
    purpose = models.CharField(max_length=20)
    turn = models.PositiveSmallIntegerField()
    endpoint = models.ForeignKey(ModelEndpoint, on_delete=models.PROTECT, related_name="+")
    request_hash = models.CharField(max_length=64)
    request = OrderedJSONField()
    response = OrderedJSONField(null=True)
    """As the endpoint gave it; null: it failed."""
    error = models.TextField(blank=True)
    tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rehearsal", "request_hash"],
                condition=Q(response__isnull=False),
                name="rehearsal_call_answered_once",
            )
        ]
