"""What authors try their grader scripts on."""

from __future__ import annotations

from django.db import models


class ScriptExample(models.Model):
    """The history that somebody wrote by hand for a script, as text: kept as it was typed, also where it is no JSON."""

    script = models.OneToOneField("studio.GraderScript", on_delete=models.CASCADE, related_name="example")
    text = models.TextField()
    written_by = models.ForeignKey("studio.User", on_delete=models.SET_NULL, null=True, related_name="+")
    written_at = models.DateTimeField(auto_now=True)
