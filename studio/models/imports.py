"""Imports that someone previews before confirming."""

from __future__ import annotations

from django.db import models


class Import(models.Model):
    """An upload, its report, and its files until it is confirmed or dropped."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="imports")
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=300, blank=True)
    published = models.BooleanField(default=False)
    state = models.CharField(
        max_length=12,
        default="previewed",
        choices=[(s, s) for s in ("previewed", "done", "refused", "dropped")],
    )
    report = models.JSONField(default=dict)
    """The JSON document of ``pibench_import``."""
    upload = models.BinaryField(null=True)
    """The archive (folder uploads are zipped); null once imported or dropped."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
