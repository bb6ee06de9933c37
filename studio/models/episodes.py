"""Changes made on the boards of episodes."""

from __future__ import annotations

from django.db import models

from studio.models.fields import OrderedJSONField


class BoardMove(models.Model):
    """One change on the board, with what undoing it takes."""

    class Kind(models.TextChoices):
        MOVE = "move", "Move"
        UNDO = "undo", "Undo"
        REDO = "redo", "Redo"

    persona = models.ForeignKey("studio.Persona", on_delete=models.CASCADE, related_name="board_moves")
    actor = models.ForeignKey("studio.User", on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=4, choices=Kind.choices, default=Kind.MOVE)
    summary = models.TextField(db_column="sentence")
    digest_before = models.CharField(max_length=32, db_column="found")
    digest_after = models.CharField(max_length=32, db_column="left")
    before = OrderedJSONField()
    """What changed, as it was: ``order``, ``groups`` and ``needs`` by task, ``words`` (what carries over) by group,
    ``splits`` by task."""
    after = OrderedJSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["persona", "-id"], name="board_move_newest")]
