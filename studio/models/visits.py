"""Visits to Home."""

from __future__ import annotations

from django.db import models


class Visit(models.Model):
    """A user's last two visits to Home; events since ``before`` are new to them."""

    user = models.OneToOneField("studio.User", on_delete=models.CASCADE, related_name="visit")
    before = models.DateTimeField(null=True)
    """When the previous visit ended; null on the first."""
    latest = models.DateTimeField()
