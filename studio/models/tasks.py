"""Drafts of tasks: hidden intents, checklist items and dependencies."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from django.db import models
from django.db.models import Deferrable, Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual

from studio.domain.task_size import TITLE_LENGTH
from studio.models.benchmarks import Benchmark
from studio.models.episodes import DependencyGroup, Episode
from studio.models.fields import OrderedJSONField
from studio.models.personas import persona_address


class TaskState(models.TextChoices):
    DRAFT = "draft", "Draft"
    IN_REVIEW = "in_review", "In review"
    CHANGES_REQUESTED = "changes_requested", "Changes requested"
    APPROVED = "approved", "Approved"
    RELEASED = "released", "Released"
    RETIRED = "retired", "Retired"


class Task(models.Model):
    """The draft of one task (``TaskSpec``); each save also adds a Revision."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField(null=True, blank=True)
    """1-based, in run order; null if not in the episode."""
    task_id = models.CharField(max_length=200)
    """As written, with trailing spaces; validated before it is used as a folder name."""
    user_id = models.CharField(max_length=200, blank=True)
    """From ``task.yaml``; usually the persona's."""
    environment_id = models.CharField(max_length=200, blank=True)
    title = models.TextField(blank=True)
    description = models.TextField(blank=True)
    task_type = models.CharField(max_length=200, blank=True)
    category = models.CharField(max_length=20, blank=True)
    trigger_kind = models.CharField(
        max_length=20,
        default="user_message",
        choices=[
            ("user_message", "User message"),
            ("webhook", "Webhook"),
            ("heartbeat", "Heartbeat"),
            ("feed", "Feed"),
            ("file_drop", "File drop"),
        ],
    )
    trigger_payload = OrderedJSONField(default=dict, blank=True)
    initial_request = models.TextField(blank=True)
    files_read = OrderedJSONField(default=list, blank=True)
    tool_evidence = OrderedJSONField(default=list, blank=True)
    """List of ``ToolEvidence``."""
    grader_path = models.CharField(max_length=500, blank=True)
    """``tools_evaluation_path`` as written."""
    group = models.ForeignKey(DependencyGroup, on_delete=models.SET_NULL, null=True, blank=True, related_name="tasks")
    tools = OrderedJSONField(default=list, blank=True)
    skills = OrderedJSONField(default=list, blank=True)
    reference_workflow = models.TextField(blank=True)
    metadata = OrderedJSONField(default=dict, blank=True)
    source = OrderedJSONField(default=dict, blank=True)
    state = models.CharField(max_length=20, choices=TaskState.choices, default=TaskState.DRAFT)
    version = models.PositiveIntegerField(default=0)
    """Number of the newest Revision; a save names the version it started from."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "task_id"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "task_id"], name="task_once"),
            models.UniqueConstraint(
                fields=["episode", "position"], name="task_position", deferrable=Deferrable.DEFERRED
            ),
            models.CheckConstraint(condition=Q(state__in=TaskState.values), name="task_state_known"),
            models.CheckConstraint(condition=LessThanOrEqual(Length("title"), TITLE_LENGTH), name="task_title_length"),
        ]
        indexes = [
            models.Index(fields=["state"], name="task_by_state"),
            models.Index(fields=["episode"], condition=~Q(grader_path=""), name="task_with_grader"),
        ]

    def __str__(self) -> str:
        return self.title.strip() or self.task_id

    def get_absolute_url(self) -> str:
        persona = self.episode.persona
        return f"{persona_address(persona.benchmark.slug, persona.user_id)}tasks/{self.pk}/"


class HiddenIntent(models.Model):
    """Something the user needs and does not say. ``uid`` stays the same when rows move."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="intents")
    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    position = models.PositiveIntegerField()
    content = models.TextField()
    scope = models.CharField(
        max_length=20,
        default="session_local",
        choices=[("session_local", "This session only"), ("persistent", "Persistent")],
    )
    initial_status = models.CharField(
        max_length=20, default="not_provided", choices=[("not_provided", "Not provided"), ("provided", "Provided")]
    )
    recoverable_from = OrderedJSONField(default=list, blank=True)
    """List of ``Recovery``."""
    source = OrderedJSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "position"], name="intent_position", deferrable=Deferrable.DEFERRED
            ),
            models.UniqueConstraint(fields=["task", "uid"], name="intent_uid"),
            models.CheckConstraint(condition=Q(scope__in=["session_local", "persistent"]), name="intent_scope_known"),
            models.CheckConstraint(
                condition=Q(initial_status__in=["not_provided", "provided"]), name="intent_initial_status_known"
            ),
        ]


class ChecklistItem(models.Model):
    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="checklist")
    uid = models.UUIDField(default=uuid.uuid4, editable=False)
    position = models.PositiveIntegerField()
    criterion = models.TextField(blank=True)
    weight = models.FloatField(default=1.0)
    grader = models.CharField(max_length=10, default="rubric", choices=[("rubric", "Rubric"), ("rule", "Rule")])
    rule = OrderedJSONField(null=True, blank=True)
    """A ``Rule``, when ``grader`` is ``rule``."""
    evidence = OrderedJSONField(default=list, blank=True)
    follows_from = models.ManyToManyField(HiddenIntent, blank=True, related_name="items")
    source = OrderedJSONField(default=dict, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "position"], name="item_position", deferrable=Deferrable.DEFERRED),
            models.UniqueConstraint(fields=["task", "uid"], name="item_uid"),
            models.CheckConstraint(condition=Q(weight__gt=0), name="item_weight_positive"),
            models.CheckConstraint(condition=Q(grader__in=["rubric", "rule"]), name="item_grader_known"),
        ]


class Dependency(models.Model):
    """``task`` builds on ``requires``, an earlier task of the same episode (enforced by a database trigger)."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="dependencies")
    requires = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="required_by")
    position = models.PositiveIntegerField()
    carries_over = models.TextField(blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "requires"], name="dependency_once"),
            models.CheckConstraint(condition=~Q(task=models.F("requires")), name="dependency_not_itself"),
        ]


def episodes_of(benchmark: Benchmark, tasks: Collection[int] | None = None) -> dict[int, Episode]:
    """By key, with their personas, in order; all, or those of ``tasks``. Assigned in bulk, these spare a query per
    task."""
    rows = Episode.objects.filter(persona__benchmark=benchmark).select_related("persona")
    if tasks is not None:
        rows = rows.filter(pk__in=Task.objects.filter(pk__in=tasks).values("episode"))
    return {row.pk: row for row in rows.order_by("persona__position", "persona__user_id")}
