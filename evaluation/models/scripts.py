"""Examples on which authors try their grader scripts."""

from __future__ import annotations

from django.db import models


class ScriptExample(models.Model):
    """A hand-written history for a script, stored as typed even if it is not valid JSON."""

    script = models.OneToOneField("studio.GraderScript", on_delete=models.CASCADE, related_name="example")
    text = models.TextField()
    written_by = models.ForeignKey("studio.User", on_delete=models.SET_NULL, null=True, related_name="+")
    written_at = models.DateTimeField(auto_now=True)
