"""Personas: the profile, tools, skills, grader scripts and other files."""

from __future__ import annotations

from django.db import models
from django.db.models import Deferrable
from django.urls import reverse

from studio.domain.bounded_cache import cached
from studio.models.fields import OrderedJSONField


class Persona(models.Model):
    """One simulated user (``PersonaSpec``). ``user_id`` is the folder name in exports; its case matters."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="personas")
    user_id = models.CharField(max_length=200)
    name = models.CharField(max_length=200, blank=True)
    role_text = models.TextField(blank=True)
    occupation = models.TextField(blank=True)
    routines = models.TextField(blank=True)
    working_style = models.TextField(blank=True)
    attributes = OrderedJSONField(default=dict, blank=True)
    preferences = OrderedJSONField(default=dict, blank=True)
    long_term_goals = OrderedJSONField(default=list, blank=True)
    profile_source = OrderedJSONField(default=dict, blank=True)
    tools_source = OrderedJSONField(null=True, blank=True)
    position = models.PositiveIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    """Number of the newest PersonaRevision; a save names the version it started from."""
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["position", "user_id"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "user_id"], name="persona_once")]

    def __str__(self) -> str:
        return self.name or self.user_id

    def get_absolute_url(self) -> str:
        return persona_address(self.benchmark.slug, self.user_id)


@cached(1_000_000)
def persona_address(slug: str, user_id: str) -> str:
    """Long pages have hundreds of them."""
    return reverse("studio:persona", args=[slug, user_id])


class ToolBinding(models.Model):
    """A tool of the persona's assistant, as named in ``tools.yaml``."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="tool_bindings")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "name"], name="tool_bound_once"),
            models.UniqueConstraint(
                fields=["persona", "position"], name="tool_position", deferrable=Deferrable.DEFERRED
            ),
        ]


class Skill(models.Model):
    """A folder of the persona's ``skills/``, staged before each session."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="skills")
    name = models.CharField(max_length=200)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["persona", "name"], name="skill_once")]


class SkillFile(models.Model):
    skill = models.ForeignKey(Skill, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["skill", "path"], name="skill_file_once")]


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


class PersonaFile(models.Model):
    """Any other file of the persona's folder: exported again, never staged."""

    persona = models.ForeignKey(Persona, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["persona", "path"], name="persona_file_once")]
