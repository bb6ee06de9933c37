"""Revisions and the event log. Rows here are never updated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models

from studio.models.fields import OrderedJSONField

if TYPE_CHECKING:
    from studio.models.tasks import Task


class Revision(models.Model):
    """A frozen ``TaskSpec``, named by reviews, pilots and releases. A database trigger refuses updates."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    spec = OrderedJSONField()
    sha256 = models.CharField(max_length=64)
    """Of the spec as stored."""
    pieces = ArrayField(models.TextField(), default=list)
    """By which its texts are known again after an export (``studio.domain.content.pieces_of``)."""
    note = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    origin_authors = models.ManyToManyField("studio.User", related_name="+")
    """Who wrote its text before ``created_by`` brought it here by a copy, a template, an import or a restored version.
    They are authors too, and rows are never changed."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["task", "number"], name="revision_number")]
        indexes = [GinIndex(fields=["pieces"], name="revision_by_pieces")]


class PersonaRevision(models.Model):
    """A frozen ``PersonaSpec`` with the episode's order."""

    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    spec = OrderedJSONField()
    episode = OrderedJSONField(default=dict)
    """``{"episode_id", "docker_image_id", "source", "order": [task_id, …]}``, and ``"groups": {name: carries over}``
    where a group has such a text, and ``"splits": {task_id: split}`` of tasks that are not public."""
    sha256 = models.CharField(max_length=64)
    changed = models.JSONField(default=dict)
    """Parts of tasks' content (``studio.domain.content``) that this revision changed: new sha256 by name, "" if gone.
    Whoever made it wrote part of every task that depends on them."""
    brought = ArrayField(models.TextField(), default=list)
    """sha256 of the scripts, skills and app data among them: known again in other personas."""
    note = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["persona", "number"], name="persona_revision_number")]
        indexes = [GinIndex(fields=["brought"], name="persona_revision_brought")]


class Event(models.Model):
    """Who did what to which task, persona or benchmark. Append-only."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="events")
    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, null=True, related_name="events")
    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, null=True, related_name="events")
    actor = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    verb = models.CharField(max_length=40)
    """``created``, ``edited``, ``imported``, ``submitted``, ``approved``, ``approved_elsewhere``, …"""
    summary = models.TextField(blank=True)
    """A sentence for the activity feed."""
    data = models.JSONField(default=dict, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [
            models.Index(fields=["benchmark", "-at"], name="event_by_benchmark"),
            models.Index(fields=["task", "-at"], name="event_by_task", condition=models.Q(task__isnull=False)),
            models.Index(
                fields=["benchmark", "-at"],
                name="event_of_feed",
                condition=~models.Q(verb__in=["imported", "approved_elsewhere"], persona__isnull=False),
            ),
        ]

    @property
    def task_here(self) -> Task | None:
        """Its task, unless that was deleted (``studio.tasks.delete``)."""
        return self.task if self.task and self.task.persona.benchmark_id == self.benchmark_id else None
