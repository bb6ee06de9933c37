"""Personas: the document of the newest revision, columns for what is listed, grader scripts, and changes on
their boards."""

from __future__ import annotations

from typing import TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import QuerySet
from django.urls import reverse

from studio.domain.persona import PersonaSpec
from studio.models.fields import OrderedJSONField

Row = TypeVar("Row", bound=models.Model)


class DocumentManager(models.Manager[Row]):
    """Lists do without the document, which is read where it is asked for."""

    def get_queryset(self) -> QuerySet[Row]:
        return super().get_queryset().defer("spec")


class Persona(models.Model):
    """One simulated user; each save also adds a PersonaRevision."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="personas")
    position = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    """Number of the newest PersonaRevision; a save names the version it started from."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    spec = OrderedJSONField()
    """A ``PersonaSpec``: that of the newest PersonaRevision. The columns below are what it says (``set_spec``)."""
    episode = OrderedJSONField(default=dict)
    """The header of its episode: that of the newest PersonaRevision."""
    user_id = models.CharField(max_length=200)
    """The folder's name in exports; its case matters."""
    name = models.CharField(max_length=200, blank=True)
    occupation = models.TextField(blank=True)
    tools = ArrayField(models.TextField(), default=list)
    """Of its assistant, as named in ``tools.yaml``."""
    skills = ArrayField(models.TextField(), default=list)

    objects = DocumentManager["Persona"]()

    class Meta:
        ordering = ["position", "user_id"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "user_id"], name="persona_once")]

    def __str__(self) -> str:
        return self.name or self.user_id

    def get_absolute_url(self) -> str:
        return reverse("studio:persona", args=[self.benchmark.slug, self.user_id])

    def set_spec(self, spec: PersonaSpec) -> None:
        """The document, and the columns beside it."""
        self.spec = spec.to_json()
        self.user_id, self.name, self.occupation = spec.user_id, spec.name, spec.occupation
        self.tools, self.skills = list(spec.tools), [skill.name for skill in spec.skills]


SPEC_FIELDS = ("spec", "user_id", "name", "occupation", "tools", "skills")
"""Set by ``Persona.set_spec``."""


class GraderScript(models.Model):
    """A rule grader of the persona (``scripts/*.py``); several tasks may use it."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="grader_scripts")
    path = models.CharField(max_length=500)
    """Relative to the persona's folder: ``scripts/x.py``."""
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")
    keys = models.JSONField(null=True, blank=True)
    """The keys ``score([])`` returned, in order; null if it has not run or failed."""
    problem = models.TextField(blank=True)
    """Why there are no keys."""

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["persona", "path"], name="grader_script_once")]


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
