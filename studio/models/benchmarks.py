"""A benchmark and the taxonomy its tasks are sorted by."""

from __future__ import annotations

from django.db import models
from django.urls import reverse


class Taxonomy(models.Model):
    """A set of task categories. ``pi-bench`` holds the paper's Table 5; a benchmark may use another."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)

    def __str__(self) -> str:
        return self.name


class Category(models.Model):
    taxonomy = models.ForeignKey(Taxonomy, on_delete=models.CASCADE, related_name="categories")
    code = models.CharField(max_length=20)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    position = models.PositiveIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["taxonomy", "code"], name="category_code_once")]

    def __str__(self) -> str:
        return f"{self.code} · {self.name}"


class Benchmark(models.Model):
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    taxonomy = models.ForeignKey(Taxonomy, on_delete=models.PROTECT, null=True, blank=True)
    approvals_needed = models.PositiveSmallIntegerField(default=1)
    """How many people other than its authors must approve a task."""
    plan = models.JSONField(default=dict, blank=True)
    """What an episode should hold: ``tasks``, ``groups``, ``standalone``; empty: the paper's 20, 6 and 5."""
    created_by = models.ForeignKey("studio.User", on_delete=models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=models.Q(approvals_needed__gte=1), name="approvals_at_least_1")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("studio:benchmark", args=[self.slug])
