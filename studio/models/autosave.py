"""What somebody has typed and not made a version of yet."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from studio.models.fields import OrderedJSONField


class WorkingCopy(models.Model):
    """One person at one page: that they are there, and their words since ``base_version``.

    Autosave writes here, so that a version stands for a stretch of work and not for a pause in typing. It holds what
    survives a crash or goes on at another machine, and is emptied when a version is made of it.
    """

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, null=True, related_name="working_copies")
    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, null=True, related_name="working_copies")
    page = models.CharField(max_length=220, blank=True)
    """Which of the persona's pages; empty: the task's."""
    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField()
    """When their page last spoke; they are here for PRESENT_SECONDS after it."""
    base_version = models.PositiveIntegerField(default=0)
    """The version the words are on top of."""
    sheet = OrderedJSONField(null=True)
    """The page's fields as sent, ``{name: [value, …]}``; null: nothing that is not in a version."""
    kept_at = models.DateTimeField(null=True)
    settled = models.CharField(max_length=64, blank=True)
    """Fingerprint of the words of which a version was made last: sent once more, they are nothing new."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "user"], name="working_copy_once"),
            models.UniqueConstraint(fields=["persona", "page", "user"], name="working_copy_of_a_page_once"),
            models.CheckConstraint(
                condition=Q(task__isnull=False, persona__isnull=True, page="")
                | (Q(task__isnull=True, persona__isnull=False) & ~Q(page="")),
                name="working_copy_of_one_page",
            ),
        ]
