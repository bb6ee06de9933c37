"""What others say of a task: reviews, comments, findings."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Review(models.Model):
    """One person's word on one Revision. ``reviewer`` is null where a publication approved it elsewhere."""

    class Decision(models.TextChoices):
        APPROVED = "approved", "Approved"
        CHANGES_REQUESTED = "changes_requested", "Changes requested"
        APPROVED_ELSEWHERE = "approved_elsewhere", "Approved elsewhere"

    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="reviews")
    decision = models.CharField(max_length=20, choices=Decision.choices)
    text = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(reviewer__isnull=False) | Q(decision="approved_elsewhere"), name="review_has_reviewer"
            ),
            models.UniqueConstraint(
                fields=["revision", "reviewer"], condition=Q(decision="approved"), name="approve_once"
            ),
        ]


class Comment(models.Model):
    """A remark on a task or one of its fields."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="comments")
    revision = models.ForeignKey("studio.Revision", on_delete=models.SET_NULL, null=True, related_name="+")
    field = models.CharField(max_length=60, blank=True)
    item_uid = models.UUIDField(null=True, blank=True)
    words = models.TextField(blank=True)
    """The words it is about, as they stood."""
    text = models.TextField()
    author = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    reply_to = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="replies")
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]


class Finding(models.Model):
    """What the checks said of a task when it was last saved, so that lists can count without checking again."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=80)
    severity = models.CharField(max_length=10, choices=[(s, s) for s in ("error", "warning", "hint")])
    field = models.CharField(max_length=60, blank=True)
    item = models.PositiveIntegerField(null=True, blank=True)
    words = models.TextField(blank=True)
    message = models.TextField()
    mend = models.TextField(blank=True)
    other = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=32)

    class Meta:
        indexes = [models.Index(fields=["task", "severity"], name="finding_by_task")]


class Waiver(models.Model):
    """A warning someone decided to live with, and why. Tied to the finding's fingerprint."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="waivers")
    fingerprint = models.CharField(max_length=32)
    rule = models.CharField(max_length=80)
    reason = models.TextField()
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "fingerprint"], name="waiver_once"),
            models.CheckConstraint(condition=~Q(reason=""), name="waiver_has_reason"),
        ]
