"""Drafts of tasks: the document of the newest revision, and columns for what is listed, filtered and constrained."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Deferrable, F, Q
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual
from django.urls import reverse

from studio.domain.base import JsonDict
from studio.domain.episode import Split
from studio.domain.task import TITLE_LENGTH, TaskSpec
from studio.models.accounts import User
from studio.models.benchmarks import Benchmark
from studio.models.fields import OrderedJSONField
from studio.models.personas import DocumentManager, Persona


class TaskState(models.TextChoices):
    DRAFT = "draft", "Draft"
    IN_REVIEW = "in_review", "In review"
    CHANGES_REQUESTED = "changes_requested", "Changes requested"
    APPROVED = "approved", "Approved"
    RELEASED = "released", "Released"
    RETIRED = "retired", "Retired"


APPROVED = (TaskState.APPROVED, TaskState.RELEASED)


class Task(models.Model):
    """The draft of one task; each save also adds a Revision."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="tasks")
    position = models.PositiveIntegerField(null=True, blank=True)
    """1-based, in run order; null if not in the episode."""
    split = models.CharField(
        max_length=10, choices=[(split.value, split.label) for split in Split], default=Split.PUBLIC.value
    )
    """That of its whole dependency group (enforced by a database trigger)."""
    state = models.CharField(max_length=20, choices=TaskState.choices, default=TaskState.DRAFT)
    version = models.PositiveIntegerField(default=0)
    """Number of the newest Revision; a save names the version it started from."""
    last_author = models.ForeignKey(
        "studio.User", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False
    )
    """Who saved the newest version."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    spec = OrderedJSONField()
    """A ``TaskSpec``: that of the newest Revision. The columns below are what it says (``set_spec``)."""
    task_id = models.CharField(max_length=200)
    """As written, with trailing spaces; validated before it is used as a folder name."""
    title = models.TextField(blank=True)
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
    grader_path = models.CharField(max_length=500, blank=True)
    """``tools_evaluation_path`` as written."""
    group = models.CharField(max_length=200, blank=True)
    """Name of its dependency group."""
    needs = ArrayField(models.TextField(), default=list)
    """Ids of the earlier tasks of the same episode that it builds on (enforced by a database trigger)."""
    is_template = models.BooleanField(default=False)
    """Whether it is offered first to start new tasks from."""
    n_local = models.PositiveIntegerField(default=0)
    """Session-local intents."""
    n_persistent = models.PositiveIntegerField(default=0)
    n_rubric = models.PositiveIntegerField(default=0)
    """Items with a criterion, here and in ``n_rule``."""
    n_rule = models.PositiveIntegerField(default=0)
    n_files = models.PositiveIntegerField(default=0)
    tools_named = ArrayField(models.TextField(), default=list)
    """Tools it names, without their prefix: as needed, as evidence for judges, in rules, as sources of intents."""
    skills_named = ArrayField(models.TextField(), default=list)

    parts = models.JSONField(default=dict)
    """sha256 by part of what its score depends on (``studio.domain.content``), persona and earlier tasks included; set
    by ``drafts.contents``, like the next."""
    content = models.CharField(max_length=64, blank=True)
    """Their ``content_hash``."""
    approved_content = models.CharField(max_length=64, blank=True)
    """That of its last approval. If ``content`` is another, the approval is outdated."""

    n_errors = models.PositiveIntegerField(default=0)
    """Open findings, here and in the next two (``findings.count``)."""
    n_warnings = models.PositiveIntegerField(default=0)
    n_hints = models.PositiveIntegerField(default=0)

    objects = DocumentManager["Task"]()

    class Meta:
        ordering = ["position", "task_id"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "task_id"], name="task_once"),
            models.UniqueConstraint(
                fields=["persona", "position"], name="task_position", deferrable=Deferrable.DEFERRED
            ),
            models.CheckConstraint(condition=Q(state__in=TaskState.values), name="task_state_known"),
            models.CheckConstraint(condition=Q(split__in=list(Split)), name="task_split_known"),
            models.CheckConstraint(condition=LessThanOrEqual(Length("title"), TITLE_LENGTH), name="task_title_length"),
        ]
        indexes = [
            models.Index(fields=["state"], name="task_by_state"),
            models.Index(fields=["persona"], condition=~Q(grader_path=""), name="task_with_grader"),
        ]

    def __str__(self) -> str:
        return self.title.strip() or self.task_id

    def get_absolute_url(self) -> str:
        persona = self.persona
        return reverse("studio:task", args=[persona.benchmark.slug, persona.user_id, self.pk])

    @property
    def outdated(self) -> bool:
        """Whether what its score depends on has changed since it was approved, though its text has not."""
        return self.state in APPROVED and self.approved_content != self.content

    @property
    def writer(self) -> User | None:
        return next((row.user for row in self.assignments.all() if row.part == "writer"), None)

    @property
    def reviewers(self) -> list[User]:
        return [row.user for row in self.assignments.all() if row.part == "reviewer"]

    @property
    def n_intents(self) -> int:
        return self.n_local + self.n_persistent

    @property
    def n_items(self) -> int:
        return self.n_rubric + self.n_rule

    def set_spec(self, spec: TaskSpec, document: JsonDict | None = None) -> None:
        """The document, and the columns beside it. ``document``: its JSON, if at hand."""
        self.spec = spec.to_json() if document is None else document
        self.task_id, self.title, self.category = spec.task_id, spec.title, spec.category
        self.trigger_kind, self.grader_path, self.group = spec.trigger.kind, spec.grader_script, spec.group
        self.needs = [needed.task_id for needed in spec.depends_on]
        self.n_persistent = sum(intent.scope == "persistent" for intent in spec.intents)
        self.n_local = len(spec.intents) - self.n_persistent
        self.n_rule = sum(item.grader == "rule" for item in spec.scored_items)
        self.n_rubric = len(spec.scored_items) - self.n_rule
        self.n_files = len(spec.assets)
        self.tools_named, self.skills_named = sorted(spec.tools_named), sorted(set(spec.skills))


SPEC_FIELDS = (
    *("spec", "task_id", "title", "category", "trigger_kind", "grader_path", "group", "needs", "n_local"),
    *("n_persistent", "n_rubric", "n_rule", "n_files", "tools_named", "skills_named"),
)
"""Set by ``Task.set_spec``."""


OUTDATED = Q(state__in=APPROVED) & ~Q(content=F("approved_content"))
"""Tasks for which ``Task.outdated`` is true."""


def personas_with(benchmark: Benchmark, tasks: Collection[int] | None = None) -> dict[int, Persona]:
    """The benchmark's personas by key, in order; all, or those of ``tasks``. Assigned in bulk, these spare a query per
    task."""
    rows = benchmark.personas.order_by("position", "user_id")
    if tasks is not None:
        rows = rows.filter(pk__in=Task.objects.filter(pk__in=tasks).values("persona"))
    return {row.pk: row for row in rows}


TRIGGERS = dict(Task._meta.get_field("trigger_kind").choices or ())
