"""What somebody has typed and not made a version of yet."""

from __future__ import annotations

from django.db import models

from studio.models.fields import OrderedJSONField


class WorkingCopy(models.Model):
    """One person at one task's page: that they are there, and their words since ``base_version``.

    Autosave writes here, so that a version stands for a stretch of work and not for a pause in typing. It holds what
    survives a crash or goes on at another machine, and is emptied when a version is made of it.
    """

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="working_copies")
    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField()
    """When their page last spoke; they are here for PRESENT_SECONDS after it."""
    base_version = models.PositiveIntegerField(default=0)
    """The version the words are on top of."""
    sheet = OrderedJSONField(null=True)
    """The page's fields as sent, ``{name: [value, …]}``; null: nothing that is not in a version."""
    kept_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task", "user"], name="working_copy_once")]
