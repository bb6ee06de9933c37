"""Pilots and their runs; append-only, except for their states."""

from __future__ import annotations

from typing import Any, Literal

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.agents import REACT, Agent, FrozenAgent
from evaluation.models.endpoints import ModelEndpoint, thaw_endpoint
from evaluation.protocol.modes import TEXTS, Arm, ModeText, PilotMode
from evaluation.protocol.versions import PROTOCOLS, ProtocolName, Terms
from evaluation.protocol.voice import UserStyle
from studio.models import Event, User

Role = Literal["agent", "user_model", "judge"]
ROLES: tuple[Role, ...] = ("agent", "user_model", "judge")
MODES = [(mode.value, TEXTS[mode].label) for mode in PilotMode]
PROTOCOL_CHOICES = [(name, name) for name in PROTOCOLS]


class Pilot(models.Model):
    """A run of one agent over tasks, k times. Its state follows from its sessions."""

    class State(models.TextChoices):
        WAITING = "waiting", "Waiting"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        FINISHED = "finished", "Finished"
        STOPPED = "stopped", "Stopped by technical failures"
        CANCELLED = "cancelled", "Cancelled"

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="pilots")
    number = models.PositiveIntegerField()
    """From 1, within the benchmark."""
    configured_agent = models.ForeignKey(Agent, on_delete=models.RESTRICT, null=True, related_name="pilots")
    """None: it did not run here. ``agent_kind`` says what it was at the start."""
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, related_name="+")
    """The agent's model."""
    user_model = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, related_name="+")
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, related_name="+")
    runs_wanted = models.PositiveSmallIntegerField(default=1)
    mode = models.CharField(max_length=10, choices=MODES, default=PilotMode.EPISODE)
    protocol = models.CharField(max_length=7, choices=PROTOCOL_CHOICES, default=ProtocolName.PAPER.value)
    agent_loop = models.PositiveSmallIntegerField(default=1)
    """Version of the agent's loop."""
    base = models.ForeignKey("self", on_delete=models.RESTRICT, null=True, related_name="+")
    """The pilot whose sessions it takes over, in the mode ``changed``."""
    taken_sessions = models.ManyToManyField("evaluation.Session", related_name="taken_by")
    """Sessions of other pilots that stand for its own. See ``Session.objects.of``."""
    limits = models.JSONField(default=dict)
    """Per session: turns, tool calls, tokens, cost."""
    budgets = models.JSONField(default=dict)
    """``{"session": {"tokens", "calls", "cost"}, "pilot": {…}}``; what is absent is not limited."""
    config = models.JSONField(default=dict)
    """Endpoints (never a key) and agent as they were at the start: ``endpoint`` and ``agent_kind`` read them."""
    scripted = models.BooleanField(default=False)
    """A scripted model took part: never evidence."""
    drafts = models.BooleanField(default=False)
    """Some of its tasks were not approved when it started."""
    imported = models.CharField(max_length=200, blank=True)
    """What it was read from, if it did not run here: never evidence, and its verdicts stand as they came."""
    tags = ArrayField(models.CharField(max_length=40), default=list)
    """What people call it, to choose results by."""
    state = models.CharField(max_length=12, choices=State.choices, default=State.WAITING)
    reason = models.TextField(blank=True)
    """Why it is paused; empty if a person paused it."""
    scores = models.JSONField(null=True)
    """A cache. ``evaluation.results.scores`` reads it."""
    scores_key = models.CharField(max_length=64, blank=True)
    """Hash of what ``scores`` were computed from."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "number"], name="pilot_number"),
            models.CheckConstraint(condition=Q(runs_wanted__gte=1), name="pilot_runs_at_least_1"),
            models.CheckConstraint(condition=Q(protocol__in=list(PROTOCOLS)), name="pilot_protocol_known"),
        ]

    def __str__(self) -> str:
        return f"Pilot {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("evaluation:pilot", args=[self.pk])

    def endpoint(self, role: Role) -> ModelEndpoint:
        """As it was when the pilot started, whatever became of the row since. Not to be saved."""
        return thaw_endpoint(getattr(self, role), self.config.get(role) or {})

    def record(self, verb: str, summary: str, by: User | None, **data: Any) -> None:
        """In the benchmark's activity, which auditors of the pilot read: nothing of its agent, judge or scores."""
        told = {"pilot": self.pk, **data}
        Event.objects.create(benchmark_id=self.benchmark_id, actor=by, verb=verb, summary=summary, data=told)

    @property
    def terms(self) -> Terms:
        return Terms(ProtocolName(self.protocol), self.agent_loop)

    @property
    def mode_text(self) -> ModeText:
        return TEXTS[PilotMode(self.mode)]

    @property
    def agent_kind(self) -> FrozenAgent:
        frozen = self.config.get("agent_kind") or {}
        return FrozenAgent(frozen.get("name", ""), frozen.get("kind", REACT), frozen.get("params", {}))

    @property
    def user_style(self) -> str:
        return str((self.config.get("user") or {}).get("style", UserStyle.VERBATIM))

    def said_in_request(self, persona: str, task: str) -> list[int]:
        """Positions of the intents that a task's request said in full when the pilot started."""
        return list(self.config.get("said_in_requests", {}).get(persona, {}).get(task, ()))

    @property
    def agent_name(self) -> str:
        return self.endpoint("agent").with_effort(self.agent_kind.name)

    @property
    def user_model_name(self) -> str:
        return self.endpoint("user_model").label

    @property
    def judge_name(self) -> str:
        return self.endpoint("judge").label

    @property
    def agent_judges_itself(self) -> bool:
        """Whether agent and judge were the same model when it started."""
        return self.endpoint("agent").model == self.endpoint("judge").model


class Run(models.Model):
    """A chain of sessions in order over one state. An episode is one chain; other modes have several, side by side."""

    pilot = models.ForeignKey(Pilot, on_delete=models.CASCADE, null=True, related_name="runs")
    """None: its one session is a rehearsal or a probe."""
    persona_revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.PROTECT, related_name="+")
    number = models.PositiveSmallIntegerField()
    """From 1 to runs_wanted."""
    chain = models.PositiveIntegerField(default=1)
    """From 1, within the number."""
    arm = models.CharField(max_length=7, blank=True, choices=[(arm.value, arm.name) for arm in Arm if arm])
    """Of an ablation. What ran without its earlier sessions counts in no score."""
    start = models.ForeignKey("evaluation.Snapshot", on_delete=models.RESTRICT, null=True, related_name="+")
    """The state it starts from; None: the episode's initial state."""

    class Meta:
        ordering = ["persona_revision__persona__position", "number", "chain"]
        constraints = [
            models.UniqueConstraint(fields=["pilot", "persona_revision", "number", "chain"], name="run_number")
        ]

    @property
    def terms(self) -> Terms:
        return self.pilot.terms if self.pilot else Terms()


class BenchmarkBudget(models.Model):
    """What all pilots of a benchmark together may use."""

    benchmark = models.OneToOneField("studio.Benchmark", on_delete=models.CASCADE, primary_key=True, related_name="+")
    limits = models.JSONField(default=dict)
    """``tokens``, ``calls`` and ``cost`` in US dollars; what is absent or 0 is not limited."""
