"""Validations of tasks: reference solutions, and probes with what they earned."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.urls import reverse

from evaluation.models.endpoints import ModelEndpoint, thaw_endpoint
from evaluation.models.sessions import Session
from evaluation.protocol.given import GivenTurn
from studio.models.fields import OrderedJSONField


class ReferenceSolution(models.Model):
    """One way to do a task wholly. Never changed: the newest of a task counts. No agent or user is shown it, and
    it is in no part of the task's content."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="solutions")
    reply = models.TextField(blank=True)
    files = OrderedJSONField(default=dict)
    """Path in the workspace → sha256 of a Blob."""
    calls = OrderedJSONField(default=list)
    """``{"name", "arguments"}``, in order."""
    recorded = models.BooleanField(default=False)
    """In a rehearsal; else it was written."""
    created_by = models.ForeignKey("studio.User", on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["task", "-id"], name="solution_newest")]

    @property
    def turn(self) -> GivenTurn:
        return GivenTurn.from_json({"reply": self.reply, "calls": self.calls, "files": self.files})


class Validation(models.Model):
    """Probes of some tasks by one model and one judge, within a budget."""

    class State(models.TextChoices):
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        STOPPED = "stopped", "Stopped"
        CANCELLED = "cancelled", "Cancelled"

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="validations")
    agent = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, related_name="+")
    """Writes the candidates."""
    judge = models.ForeignKey(ModelEndpoint, on_delete=models.RESTRICT, related_name="+")
    config = models.JSONField(default=dict)
    """Both as they were at the start, never a key."""
    budget = models.JSONField(default=dict)
    """``tokens``, ``calls`` and ``cost`` in US dollars; what is absent is not limited."""
    state = models.CharField(max_length=9, choices=State.choices, default=State.RUNNING)
    reason = models.TextField(blank=True)
    """Why it stopped."""
    created_by = models.ForeignKey("studio.User", on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="finished", finished_at__isnull=False) | ~Q(state="finished"),
                name="validation_finished_some_time",
            )
        ]

    def get_absolute_url(self) -> str:
        return reverse("evaluation:validation", args=[self.benchmark.slug])

    def to_json(self) -> dict[str, object]:
        return {"state": self.state, "reason": self.reason, "budget": self.budget}

    def endpoint(self, role: str) -> ModelEndpoint:
        """``agent`` or ``judge``, as it was at the start. Not to be saved."""
        return thaw_endpoint(getattr(self, role), self.config.get(role) or {})


class Probe(models.Model):
    """One kind of probe of one content of a task. Append-only; never evidence of a pilot, and in no score."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="probes", db_index=False)
    content = models.CharField(max_length=64)
    """``Task.content`` that it is of."""
    kind = models.CharField(max_length=20)
    """A key of ``evaluation.feasibility.kinds.KINDS``."""
    solution = models.ForeignKey(ReferenceSolution, on_delete=models.CASCADE, null=True, related_name="+")
    """That is tried, if one is."""
    asked = models.CharField(max_length=64, blank=True)
    """Hash of who is asked; empty: nobody."""
    request = models.TextField(blank=True)
    """What opens its session in place of the task's own request."""
    given = OrderedJSONField(null=True)
    """What is done in the agent's seat: ``reply``, ``calls`` and ``files``; None: a model is asked."""
    validation = models.ForeignKey(Validation, on_delete=models.CASCADE, null=True, related_name="probes")
    """None: rules alone, which cost nothing."""
    session = models.OneToOneField(Session, on_delete=models.CASCADE, null=True, related_name="probe")
    scripted = models.BooleanField(default=False)
    """A scripted model took part: it never counts."""
    items = OrderedJSONField(null=True)
    """``evaluation.feasibility.kinds.ProbedItem`` each, once it is over."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(validation=None, session=None, items__isnull=False) | Q(validation__isnull=False),
                name="probe_without_validation_is_over",
            ),
            models.UniqueConstraint(
                fields=["task", "content", "kind", "solution"],
                condition=Q(validation=None),
                nulls_distinct=False,
                name="free_probe_once",
            ),
            models.UniqueConstraint(fields=["validation", "task", "kind"], name="probe_once_in_validation"),
        ]
        indexes = [models.Index(fields=["task", "content", "kind"], name="probe_of_content")]

    @property
    def asking(self) -> Validation:
        """Of one that has a session."""
        assert self.validation is not None
        return self.validation
