"""Results of running grader scripts, written by evaluation and read by the checks."""

from __future__ import annotations

from django.db import models


class ScriptReport(models.Model):
    """A ``GraderReport`` of one script, by one version of the analysis. Never edited."""

    sha256 = models.CharField(max_length=64)
    analysis = models.PositiveIntegerField()
    report = models.JSONField()
    made_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sha256", "analysis"], name="script_report_once")]
