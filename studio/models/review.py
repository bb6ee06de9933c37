"""Reviews of revisions and assignments of tasks."""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, F, OuterRef, Q, QuerySet


class Reviews(models.Manager["Review"]):
    def approvals(self, **by: object) -> QuerySet[Review]:
        """Those that the reviewer did not take back by asking for changes to the same version afterwards."""
        later = Review.objects.filter(
            revision=OuterRef("revision"),
            reviewer=OuterRef("reviewer"),
            decision=Review.Decision.CHANGES_REQUESTED,
            pk__gt=OuterRef("pk"),
        )
        return self.filter(~Exists(later), decision=Review.Decision.APPROVED, **by)


class Review(models.Model):
    """A reviewer's decision on a Revision. ``reviewer`` is null if it was approved before it was imported.

    Database triggers enforce that authors do not approve their own work, and the number of approvals.
    """

    class Decision(models.TextChoices):
        APPROVED = "approved", "Approved"
        CHANGES_REQUESTED = "changes_requested", "Changes requested"
        APPROVED_ELSEWHERE = "approved_elsewhere", "Already approved"

    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="reviews")
    decision = models.CharField(max_length=20, choices=Decision.choices)
    content = models.CharField(max_length=64)
    """``content_hash`` of what was reviewed: the task with all that its score depends on, not its text alone."""
    parts = models.JSONField(default=dict)
    """sha256 by part of that content."""
    text = models.TextField(blank=True)
    answers = models.JSONField(default=dict, blank=True, db_column="points")
    """The review checklist, ``{"realistic": {"so": true, "word": ""}, …}``; empty if it was skipped.
    The database refuses approvals with an unmet question."""
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Reviews()

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(reviewer__isnull=False) | Q(decision="approved_elsewhere"), name="review_has_reviewer"
            )
        ]


STANDING = Q(revision__number=F("revision__task__version"), content=F("revision__task__approved_content"))
"""Reviews that approved the newest revision of a task as it was approved last."""


class Assignment(models.Model):
    """The author or a reviewer of a task: nobody is both, and a task has at most one author.

    A database trigger refuses users without the role, and deletes the assignment when they lose it. Triggers also keep
    ``benchmark`` and ``open`` (``migrations/triggers.sql``): to count who has how much to do, nothing else is read.
    """

    class Part(models.TextChoices):
        WRITER = "writer", "Author"
        REVIEWER = "reviewer", "Reviewer"

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="assignments")
    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="assignments")
    part = models.CharField(max_length=10, choices=Part.choices)
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    benchmark = models.ForeignKey(
        "studio.Benchmark", on_delete=models.CASCADE, null=True, editable=False, related_name="+", db_index=False
    )
    open = models.BooleanField(default=True, editable=False)
    """Whether its task is neither approved, released nor retired."""

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "user"], name="assigned_once"),
            models.UniqueConstraint(fields=["task"], condition=Q(part="writer"), name="one_writer"),
            models.CheckConstraint(condition=Q(part__in=["writer", "reviewer"]), name="assignment_part_known"),
        ]
        indexes = [
            models.Index(fields=["user", "part"], name="assignment_by_user"),
            models.Index(fields=["benchmark", "user", "part"], condition=Q(open=True), name="assignment_open"),
        ]
