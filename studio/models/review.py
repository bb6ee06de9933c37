"""What others say of a task: reviews, comments, findings."""

from __future__ import annotations

from django.db import models
from django.db.models import Q


class Review(models.Model):
    """One person's word on one Revision. ``reviewer`` is null where a publication approved it elsewhere.

    Triggers hold that nobody approves what they wrote part of, and that as many approved as the benchmark asks for.
    """

    class Decision(models.TextChoices):
        APPROVED = "approved", "Approved"
        CHANGES_REQUESTED = "changes_requested", "Changes requested"
        APPROVED_ELSEWHERE = "approved_elsewhere", "Already approved"

    revision = models.ForeignKey("studio.Revision", on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="reviews")
    decision = models.CharField(max_length=20, choices=Decision.choices)
    text = models.TextField(blank=True)
    points = models.JSONField(default=dict, blank=True)
    """The reviewer's list as it was gone through, ``{"realistic": {"so": true, "word": ""}, …}``; empty: it was not.
    The database refuses an approval in which a point is not so."""
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


class Assignment(models.Model):
    """Who writes a task, or is asked to review it. Nobody is both; a task has one writer at most.

    A trigger refuses who lacks the role, and takes an assignment back with the role.
    """

    class Part(models.TextChoices):
        WRITER = "writer", "Author"
        REVIEWER = "reviewer", "Reviewer"

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="assignments")
    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="assignments")
    part = models.CharField(max_length=10, choices=Part.choices)
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["task", "user"], name="assigned_once"),
            models.UniqueConstraint(fields=["task"], condition=Q(part="writer"), name="one_writer"),
            models.CheckConstraint(condition=Q(part__in=["writer", "reviewer"]), name="assignment_part_known"),
        ]
        indexes = [models.Index(fields=["user", "part"], name="assignment_by_user")]


class Comment(models.Model):
    """A remark on a task, one of its fields, a row of it, or words in it; or an answer to one.

    A remark may bring a suggestion: what the words, or the whole text if it names none, should become.
    """

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="comments")
    revision = models.ForeignKey("studio.Revision", on_delete=models.SET_NULL, null=True, related_name="+")
    """The version it was made on; its anchor is in that version's text."""
    field = models.CharField(max_length=60, blank=True)
    item_uid = models.UUIDField(null=True, blank=True)
    words = models.TextField(blank=True)
    """The words it is about, as they stood; with ``before``, ``after`` and ``start`` they are found again."""
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    start = models.PositiveIntegerField(default=0)
    text = models.TextField(blank=True)
    suggestion = models.TextField(null=True, blank=True)  # noqa: DJ001 - empty means: without these words
    applied_in = models.ForeignKey("studio.Revision", on_delete=models.SET_NULL, null=True, related_name="applied")
    """The version that was made of the suggestion."""
    applied_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    author = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    reply_to = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="replies")
    """A remark of the same task that is no answer itself; a trigger holds it."""
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    """Taken back by its author: the words are gone, its place in the talk stays."""

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(reply_to=None) | Q(field="", item_uid=None, words="", suggestion=None),
                name="answer_has_no_place",
            ),
            models.CheckConstraint(condition=Q(words="", suggestion=None) | ~Q(field=""), name="words_are_in_a_field"),
            models.CheckConstraint(
                condition=~Q(text="") | Q(suggestion__isnull=False) | Q(deleted_at__isnull=False),
                name="remark_says_something",
            ),
            models.CheckConstraint(
                condition=Q(applied_in=None) | Q(suggestion__isnull=False), name="applied_was_suggested"
            ),
        ]
        indexes = [models.Index(fields=["task", "created_at"], name="comment_by_task")]


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


class SetAside(models.Model):
    """An error of a rule that judges language, which an owner of the benchmark holds to be wrong, and why.

    Tied to the finding's fingerprint as a Waiver is, and told at approval and in a release.
    """

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="set_aside")
    fingerprint = models.CharField(max_length=32)
    rule = models.CharField(max_length=80)
    message = models.TextField()
    reason = models.TextField()
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["task", "fingerprint"], name="set_aside_once"),
            models.CheckConstraint(condition=~Q(reason="") & ~Q(message=""), name="set_aside_says_why"),
        ]
