"""Releases, and the revisions they froze."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from studio.models.fields import OrderedJSONField


class Release(models.Model):
    """A frozen TaskPack with the evidence behind it. Immutable.

    Its bytes follow from what is pinned here: the revisions of its tasks and personas, the contents of files that these
    name, and ``manifest``. ``evaluation.releases.packing`` makes them again.
    """

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.PROTECT, related_name="releases")
    version = models.CharField(max_length=40)
    manifest = OrderedJSONField()
    """The archive's ``pack.json``: tasks with their revisions, evidence, exceptions."""
    sha256 = models.CharField(max_length=64)
    """Of the archive."""
    size = models.PositiveBigIntegerField()
    """Bytes of the archive."""
    sums = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")
    """The archive's ``SHA256SUMS``; each file that it lists is a Blob."""
    exceptions = OrderedJSONField(default=list)
    """Accepted blockers: ``[{"problem", "reason", "by"}]``."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "version"], name="release_version")]

    def __str__(self) -> str:
        return f"{self.benchmark} {self.version}"

    def get_absolute_url(self) -> str:
        return reverse("evaluation:release", args=[self.pk])


class ElsewhereAcceptance(models.Model):
    """Someone who may release accepts that a version was approved elsewhere. Never changed."""

    review = models.OneToOneField("studio.Review", on_delete=models.CASCADE, related_name="acceptance")
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class ReleasePersona(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="personas")
    revision = models.ForeignKey("studio.PersonaRevision", on_delete=models.PROTECT, related_name="releases")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "revision"], name="release_persona_once")]


class ReleaseTask(models.Model):
    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="tasks")
    revision = models.ForeignKey("studio.Revision", on_delete=models.PROTECT, related_name="releases")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "revision"], name="release_task_once")]
