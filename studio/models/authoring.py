"""What authors write: personas, episodes, tasks and their parts. Drafts; ``history`` freezes them."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Deferrable, Q
from django.urls import reverse

from studio.models.fields import OrderedJSONField


class Persona(models.Model):
    """One simulated user (``PersonaSpec``). ``user_id`` is the folder's name, case kept."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="personas")
    user_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)
    role_text = models.TextField(blank=True)
    occupation = models.TextField(blank=True)
    routines = models.TextField(blank=True)
    working_style = models.TextField(blank=True)
    attributes = OrderedJSONField(default=dict, blank=True)
    preferences = OrderedJSONField(default=dict, blank=True)
    long_term_goals = OrderedJSONField(default=list, blank=True)
    profile_source = OrderedJSONField(default=dict, blank=True)
    tools_source = OrderedJSONField(null=True, blank=True)
    position = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    """Number of the newest PersonaRevision; a save names the version it started from."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "user_id"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "user_id"], name="persona_once")]

    def __str__(self) -> str:
        return self.name or self.user_id

    def get_absolute_url(self) -> str:
        return reverse("studio:persona", args=[self.benchmark.slug, self.user_id])


class ToolBinding(models.Model):
    """A tool the persona's assistant has, as its ``tools.yaml`` names it."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="tool_bindings")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "name"], name="tool_bound_once"),
            models.UniqueConstraint(
                fields=["persona", "position"], name="tool_position", deferrable=Deferrable.DEFERRED
            ),
        ]


class Skill(models.Model):
    """A folder of the persona's ``skills/``, staged before each session."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="skills")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["persona", "name"], name="skill_once")]


class SkillFile(models.Model):
    skill = models.ForeignKey(Skill, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["skill", "path"], name="skill_file_once")]


class GraderScript(models.Model):
    """A rule grader of the persona (``scripts/*.py``); several tasks may name one."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="grader_scripts")
    path = models.CharField(max_length=500)
    """Below the persona's folder: ``scripts/x.py``."""
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")
    keys = models.JSONField(null=True, blank=True)
    """What ``score([])`` returned, in order; null: not run yet, or broken."""
    problem = models.TextField(blank=True)
    """Why there are no keys."""

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["persona", "path"], name="grader_script_once")]


class PersonaFile(models.Model):
    """Anything else that lay in the persona's folder. Kept for the way back; never staged."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["persona", "path"], name="persona_file_once")]


class Episode(models.Model):
    """The persona's ordered tasks. One for each persona."""

    persona = models.OneToOneField(Persona, on_delete=models.CASCADE, related_name="episode")
    episode_id = models.CharField(max_length=200)
    docker_image_id = models.CharField(max_length=500, blank=True)
    source = OrderedJSONField(default=dict, blank=True)


class DependencyGroup(models.Model):
    """Tasks that share what an earlier one establishes (paper, section 3.2)."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="groups")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200, blank=True)
    carries_over = models.TextField(blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["episode", "position"], name="group_position", deferrable=Deferrable.DEFERRED
            )
        ]


class TaskState(models.TextChoices):
    DRAFT = "draft", "Draft"
    IN_REVIEW = "in_review", "In review"
    CHANGES_REQUESTED = "changes_requested", "Changes requested"
    APPROVED = "approved", "Approved"
    RELEASED = "released", "Released"
    RETIRED = "retired", "Retired"


class Task(models.Model):
    """The draft of one task (``TaskSpec``). Its parts are rows of their own; ``revisions`` keeps every save."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField(null=True, blank=True)
    """1-based place in the run order; null: not in the episode."""
    task_id = models.CharField(max_length=200)
    """As written, trailing spaces included; used as the folder's name only after a check."""
    user_id = models.CharField(max_length=200, blank=True)
    """What ``task.yaml`` says; usually the persona's."""
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
        ]
        indexes = [models.Index(fields=["state"], name="task_by_state")]

    def __str__(self) -> str:
        return self.title.strip() or self.task_id

    def get_absolute_url(self) -> str:
        persona = self.episode.persona
        return reverse("studio:task", args=[persona.benchmark.slug, persona.user_id, self.pk])


class HiddenIntent(models.Model):
    """Something the user needs and does not say. Judged by position; ``uid`` stays when rows move."""

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
    """One requirement on the outcome."""

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
    """``task`` builds on ``requires``: the same episode, and earlier (a trigger in the database holds it)."""

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
