"""Draft text that is in no version yet."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from studio.models.fields import OrderedJSONField


class Autosave(models.Model):
    """One user on one page: their presence, and what they typed since ``base_version``.

    Survives crashes and follows the user to other machines; cleared when it is saved as a version.
    """

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, null=True, related_name="autosaves")
    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, null=True, related_name="autosaves")
    page = models.CharField(max_length=220, blank=True)
    """Which of the persona's pages; empty for a task."""
    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="+")
    seen_at = models.DateTimeField()
    """Time of the page's last request; the user counts as present for PRESENT_SECONDS after it."""
    base_version = models.PositiveIntegerField(default=0)
    form_data = OrderedJSONField(null=True, db_column="sheet")
    """The page's fields as sent, ``{name: [value, …]}``; null if everything is in a version."""
    autosaved_at = models.DateTimeField(null=True, db_column="kept_at")
    saved_fingerprint = models.CharField(max_length=64, blank=True, db_column="settled")
    """Fingerprint of the text last saved as a version, so that sending it again changes nothing."""
    number = models.PositiveIntegerField(default=0)
    """Counts the changes of ``form_data``: a window that knows an older one may not replace it unasked."""
    window = models.CharField(max_length=32, blank=True)
    """The browser window that sent ``form_data``; empty for a page without scripts."""

    class Meta:
        db_table = "studio_workingcopy"
        constraints = [
            models.UniqueConstraint(fields=["task", "user"], name="working_copy_once"),
            models.UniqueConstraint(fields=["persona", "page", "user"], name="working_copy_of_a_page_once"),
            models.CheckConstraint(
                condition=Q(task__isnull=False, persona__isnull=True, page="")
                | (Q(task__isnull=True, persona__isnull=False) & ~Q(page="")),
                name="working_copy_of_one_page",
            ),
        ]


class DiscardedText(models.Model):
    """Autosaved text that its author discarded, or that lost in a conflict; kept for KEPT_DAYS."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, null=True, related_name="+")
    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, null=True, related_name="+")
    page = models.CharField(max_length=220, blank=True)
    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="+")
    base_version = models.PositiveIntegerField()
    form_data = OrderedJSONField()
    discarded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["user", "discarded_at"], name="discarded_text_of_user")]
