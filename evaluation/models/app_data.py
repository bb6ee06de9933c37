"""Data of simulated apps in the form that sessions read quickly: derived from a persona's files, and never changed."""

from __future__ import annotations

from django.db import models

from studio.models import Blob


class ReadyAppData(models.Model):
    """What a persona's data of an app comes to once everything it left out was added."""

    app = models.CharField(max_length=40)
    seed = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="+")
    form = models.PositiveSmallIntegerField()
    """How it was completed and written (``evaluation.workspaces.app_states.FORM``)."""
    state = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["seed", "app", "form"], name="app_data_ready_once")]
