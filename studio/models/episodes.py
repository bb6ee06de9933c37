"""What people did on an episode's board, so that it can be put back."""

from __future__ import annotations

from django.db import models

from studio.models.fields import OrderedJSONField


class BoardMove(models.Model):
    """One step on the board: what it changed, between which two arrangements."""

    class Kind(models.TextChoices):
        MOVE = "move", "Move"
        UNDO = "undo", "Undo"
        REDO = "redo", "Redo"

    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, related_name="board_moves")
    actor = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=4, choices=Kind.choices, default=Kind.MOVE)
    sentence = models.TextField()
    """What was done, as the history says it."""
    found = models.CharField(max_length=32)
    """Digest of the arrangement it was made in."""
    left = models.CharField(max_length=32)
    """Digest of what came of it."""
    before = OrderedJSONField()
    """The parts that changed, as they were: ``order``, ``groups`` and ``needs`` by task, ``words`` by group."""
    after = OrderedJSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["persona", "-id"], name="board_move_newest")]
