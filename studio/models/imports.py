"""Imports that someone previews before confirming."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.urls import reverse


class Import(models.Model):
    """An upload, its report, and its files until it is confirmed or dropped."""

    class Publication(models.TextChoices):
        NONE = "", "Not requested"
        REQUESTED = "requested", "Waits for another owner"
        CONFIRMED = "confirmed", "Confirmed"
        DECLINED = "declined", "Declined"

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="imports")
    by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    name = models.CharField(max_length=300, blank=True)
    published = models.BooleanField(default=False)
    """Whether its tasks are said to be approved elsewhere, which another owner has to confirm."""
    publication = models.CharField(max_length=12, default="", blank=True, choices=Publication.choices)
    publication_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    """Who confirmed or declined it."""
    publication_at = models.DateTimeField(null=True)
    revisions = models.ManyToManyField("studio.Revision", related_name="+")
    """The versions to be confirmed."""
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
        constraints = [
            models.CheckConstraint(
                condition=~Q(publication="confirmed") | (Q(publication_by__isnull=False) & ~Q(publication_by=F("by"))),
                name="publication_by_two",
            )
        ]

    def __str__(self) -> str:
        return self.name or "upload"

    def get_absolute_url(self) -> str:
        return reverse("studio:import", args=[self.benchmark.slug, self.pk])
