"""Episodes and the changes made on their boards."""

from __future__ import annotations

from django.db import models

from studio.models.fields import OrderedJSONField
from studio.models.personas import Persona


class Episode(models.Model):
    """The persona's ordered tasks; each persona has one."""

    persona = models.OneToOneField(Persona, on_delete=models.CASCADE, related_name="episode")
    episode_id = models.CharField(max_length=200)
    docker_image_id = models.CharField(max_length=500, blank=True)
    source = OrderedJSONField(default=dict, blank=True)
    groups = OrderedJSONField(default=dict, blank=True)
    """What the tasks of a dependency group share (paper, section 3.2), by the group's name."""


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
    """What changed, as it was: ``order``, ``groups`` and ``needs`` by task, ``words`` (what carries over) by group."""
    after = OrderedJSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["persona", "-id"], name="board_move_newest")]
