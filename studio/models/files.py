"""The files of a task: assets and expected artifacts."""

from __future__ import annotations

from django.db import models
from django.db.models import Deferrable, Q


class Asset(models.Model):
    """A file copied into the workspace root before the session."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="assets")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")
    description = models.TextField(blank=True)

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["task", "path"], name="asset_once")]


class ExpectedArtifact(models.Model):
    """A file the agent should produce, with an optional reference. Never staged."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="artifacts")
    position = models.PositiveIntegerField()
    path = models.CharField(max_length=500)
    note = models.TextField(blank=True)
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["task", "position"], name="artifact_position", deferrable=Deferrable.DEFERRED
            ),
            models.UniqueConstraint(fields=["task", "path"], name="artifact_once"),
            models.CheckConstraint(condition=~Q(path=""), name="artifact_named"),
        ]
