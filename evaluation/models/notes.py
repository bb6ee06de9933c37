"""What people note on the turns of a session."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from evaluation.models.sessions import Turn


class TurnNote(models.Model):
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at", "pk"]
