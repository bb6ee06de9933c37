"""When somebody was here."""

from __future__ import annotations

from django.db import models


class Visit(models.Model):
    """One person's last two visits to Home: what is news to them happened since ``before``."""

    user = models.OneToOneField("studio.User", on_delete=models.CASCADE, related_name="visit")
    before = models.DateTimeField(null=True)
    """When the visit before this one ended; null: this is the first."""
    latest = models.DateTimeField()
    """When Home was last opened."""
