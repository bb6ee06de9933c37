"""Findings as of the last save, their waivers, and what runs of grader scripts told."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

NOT_CHECKED = "not-checked"
"""The rule of findings that say that the checks have yet to run."""


class Finding(models.Model):
    """What the checks reported when the task was last saved."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="findings")
    rule = models.CharField(max_length=80)
    severity = models.CharField(max_length=10, choices=[(s, s) for s in ("error", "warning", "hint")])
    field = models.CharField(max_length=60, blank=True)
    item = models.PositiveIntegerField(null=True, blank=True)
    passage = models.TextField(blank=True, db_column="words")
    message = models.TextField()
    fix = models.TextField(blank=True, db_column="mend")
    other = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=32)

    class Meta:
        indexes = [
            models.Index(fields=["task", "severity"], name="finding_by_task"),
            models.Index(fields=["task"], condition=Q(rule=NOT_CHECKED), name="finding_not_checked"),
        ]


class CheckedTask(models.Model):
    """What the rules that read one task alone had read when they last ran: while it stays, so do their findings."""

    task = models.OneToOneField("studio.Task", on_delete=models.CASCADE, primary_key=True, related_name="checked")
    key = models.CharField(max_length=64)
    """sha256."""


class Waiver(models.Model):
    """A dismissed warning. Tied to the finding's fingerprint."""

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


class ErrorWaiver(models.Model):
    """An error of a language rule that an owner dismissed as wrong. Tied to the finding's fingerprint, and reported at
    approval and in releases."""

    task = models.ForeignKey("studio.Task", on_delete=models.CASCADE, related_name="error_waivers")
    fingerprint = models.CharField(max_length=32)
    rule = models.CharField(max_length=80)
    message = models.TextField()
    reason = models.TextField()
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "studio_setaside"
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["task", "fingerprint"], name="set_aside_once"),
            models.CheckConstraint(condition=~Q(reason="") & ~Q(message=""), name="set_aside_says_why"),
        ]


class ScriptReport(models.Model):
    """A ``GraderReport`` of one script, by one version of the analysis. Never edited."""

    sha256 = models.CharField(max_length=64)
    analysis = models.PositiveIntegerField()
    report = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sha256", "analysis"], name="script_report_once")]
