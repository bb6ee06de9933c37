"""Notifications, notification settings and email digests."""

from __future__ import annotations

from django.db import models


class Notification(models.Model):
    """One event, for one recipient."""

    class Kind(models.TextChoices):
        """Stored values; some differ from today's names."""

        MENTIONED = "mentioned", "Someone mentions you in a comment"
        COMMENTED = "remarked", "A comment on a task you write"
        REPLIED = "answered", "Someone replies to you or applies your suggestion"
        RESOLVED = "settled", "A thread you took part in is resolved or reopened"
        ASSIGNED = "assigned", "A task is assigned to you"
        REVIEW_REQUESTED = "review_asked", "A task is ready for a review you can give"
        CHANGES_REQUESTED = "changes_requested", "Changes are requested on a task you wrote"
        APPROVED = "approved", "A task you wrote is approved"
        EDITED_AFTER_APPROVAL = "edited_after", "A task you approved, or what it depends on, is edited"
        IMPORTED = "imported", "An import into a benchmark you edit has finished"
        PILOT_ENDED = "pilot_ended", "A pilot you started has ended"
        MODEL_REQUESTED = "model_asked", "Someone asks you to connect a model"
        AUDIT_OPENED = "audit_opened", "An audit is open for you"
        ADJUDICATION = "adjudication", "Auditors disagree on a decision you can adjudicate"
        RELEASE_BLOCKED = "release_blocked", "A release waits for something you can settle"

    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="+")
    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, null=True, related_name="+")
    actor = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    text = models.TextField()
    """The sentence shown, after the actor's name."""
    address = models.CharField(max_length=500)
    """Path of the page it is about."""
    created_at = models.DateTimeField(auto_now_add=True)
    read_at = models.DateTimeField(null=True)
    digest = models.ForeignKey("studio.Digest", on_delete=models.SET_NULL, null=True, related_name="notifications")
    """The email that included it, if any."""

    class Meta:
        ordering = ["-created_at", "-pk"]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="notification_by_user"),
            models.Index(fields=["user", "benchmark"], name="notification_unread", condition=models.Q(read_at=None)),
        ]


class NotificationChoice(models.Model):
    """How a user is notified of one kind; without a row, in the inbox and by email."""

    class How(models.TextChoices):
        EMAIL = "email", "Inbox and email"
        INBOX = "inbox", "Inbox"
        NOT = "not", "Off"

    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="notification_choices")
    kind = models.CharField(max_length=20, choices=Notification.Kind.choices)
    how = models.CharField(max_length=10, choices=How.choices)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "kind"], name="notification_choice_once")]


class Digest(models.Model):
    """An email that was sent."""

    user = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="digests")
    to = models.EmailField()
    subject = models.CharField(max_length=200)
    text = models.TextField()
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-sent_at"]
