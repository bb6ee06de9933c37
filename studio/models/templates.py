"""Task templates."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.urls import reverse

from studio.models.fields import OrderedJSONField


class TaskTemplate(models.Model):
    """A ``TaskSpec`` without its position in an episode. A database trigger forbids changes except to ``name`` and
    ``when``."""

    benchmark = models.ForeignKey("studio.Benchmark", on_delete=models.CASCADE, related_name="templates")
    name = models.CharField(max_length=120)
    when = models.CharField(max_length=300, blank=True)
    """When to use it."""
    spec = OrderedJSONField()
    trigger_kind = models.CharField(max_length=20)
    n_intents = models.PositiveIntegerField()
    n_items = models.PositiveIntegerField()
    n_files = models.PositiveIntegerField()
    made_from = models.ForeignKey("studio.Task", on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    made_from_version = models.PositiveIntegerField(default=0)
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    authors = models.ManyToManyField("studio.User", related_name="+")
    """Everyone who wrote the task it was made from, up to that version."""
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = [Lower("name")]
        constraints = [
            models.UniqueConstraint("benchmark", Lower("name"), name="template_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="template_named"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('studio:templates', args=[self.benchmark.slug])}#template-{self.pk}"


class TemplateFile(models.Model):
    """A file of a template: an asset, a reference, or its grader script."""

    class Kind(models.TextChoices):
        ASSET = "asset", "Asset"
        REFERENCE = "reference", "Reference"
        SCRIPT = "script", "Grader script"

    template = models.ForeignKey(TaskTemplate, on_delete=models.CASCADE, related_name="files")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    path = models.CharField(max_length=500)
    """Relative to the task's folder; a script's to the persona's."""
    blob = models.ForeignKey("studio.Blob", on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["kind", "path"]
        constraints = [
            models.UniqueConstraint(fields=["template", "kind", "path"], name="template_file_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["asset", "reference", "script"]), name="template_file_kind_known"
            ),
            models.UniqueConstraint(fields=["template"], condition=Q(kind="script"), name="template_script_one"),
        ]
