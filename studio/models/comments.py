"""Comments, replies and suggestions."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Comment(models.Model):
    """A comment on a task, a field, a row or quoted text; or a reply to one.

    A comment may have a suggestion, which replaces the quoted text, or the whole text if nothing is quoted.
    """

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="comments")
    revision = models.ForeignKey("studio.Revision", on_delete=models.SET_NULL, null=True, related_name="+")
    """The version it was written on, in which the quote is located."""
    field = models.CharField(max_length=60, blank=True)
    item_uid = models.UUIDField(null=True, blank=True)
    quote = models.TextField(blank=True, db_column="words")
    """The quoted text as it was; ``before``, ``after`` and ``start`` help to locate it after edits."""
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    start = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    suggestion = models.TextField(null=True, blank=True)  # noqa: DJ001 - empty means: delete the quoted text
    applied_in = models.ForeignKey("studio.Revision", on_delete=models.SET_NULL, null=True, related_name="applied")
    """The version in which the suggestion was applied."""
    applied_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    author = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    reply_to = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="replies")
    """A comment of the same task that is no reply itself (enforced by a database trigger)."""
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    """Deleted by its author; the row stays for its replies."""

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(reply_to=None) | Q(field="", item_uid=None, quote="", suggestion=None),
                name="answer_has_no_place",
            ),
            models.CheckConstraint(condition=Q(quote="", suggestion=None) | ~Q(field=""), name="words_are_in_a_field"),
            models.CheckConstraint(
                condition=~Q(text="") | Q(suggestion__isnull=False) | Q(deleted_at__isnull=False),
                name="remark_says_something",
            ),
            models.CheckConstraint(
                condition=Q(applied_in=None) | Q(suggestion__isnull=False), name="applied_was_suggested"
            ),
        ]
        indexes = [models.Index(fields=["task", "created_at"], name="comment_by_task")]
