"""Counts of personas, benchmarks and tasks, in a constant number of queries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from studio.domain.statistics import Figures
from studio.findings.queries import open_findings
from studio.models import (
    Benchmark,
    ChecklistItem,
    GraderScript,
    HiddenIntent,
    Persona,
    Task,
    TaskState,
)
from studio.reports.statistics import content_figures


@dataclass
class Counts:
    personas: int = 0
    figures: Figures = field(default_factory=Figures)
    uncounted: int = 0
    """Grader scripts in use whose keys are unknown."""
    states: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    """Open ones, by severity."""

    def add(self, other: Counts) -> None:
        self.personas += other.personas
        self.figures += other.figures
        self.uncounted += other.uncounted
        self.states += other.states
        self.findings += other.findings

    @property
    def approved(self) -> int:
        return self.states[TaskState.APPROVED] + self.states[TaskState.RELEASED]

    @property
    def errors(self) -> int:
        return self.findings["error"]

    @property
    def warnings(self) -> int:
        return self.findings["warning"]


def persona_counts(personas: Iterable[Persona]) -> dict[int, Counts]:
    keys = [persona.pk for persona in personas]
    figures = content_figures(keys)
    counts = {key: Counts(personas=1, figures=figures[key]) for key in keys}
    of_task = Q(task__episode__persona__in=keys)
    tasks = Task.objects.filter(episode__persona__in=keys).order_by()
    for key, state, count in tasks.values_list("episode__persona", "state").annotate(Count("pk")):
        counts[key].states[state] += count
    for key in GraderScript.objects.filter(persona__in=keys, keys=None).values_list("persona", flat=True):
        counts[key].uncounted += 1
    existing = {
        (key, path) for key, path in GraderScript.objects.filter(persona__in=keys).values_list("persona", "path")
    }
    for key, user_id, path in tasks.exclude(grader_path="").values_list(
        "episode__persona", "episode__persona__user_id", "grader_path"
    ):
        relative = path.strip().removeprefix("./").removeprefix(f"data/{user_id}/")
        counts[key].uncounted += (key, relative) not in existing
    for key, severity, count in (
        open_findings().filter(of_task).order_by().values_list("task__episode__persona", "severity")
        .annotate(Count("pk"))
    ):  # fmt: skip
        counts[key].findings[severity] += count
    return counts


def benchmark_counts(benchmarks: Iterable[Benchmark]) -> dict[int, Counts]:
    totals = {benchmark.pk: Counts() for benchmark in benchmarks}
    personas = list(Persona.objects.filter(benchmark__in=totals).only("pk", "benchmark_id"))
    counts = persona_counts(personas)
    for persona in personas:
        totals[persona.benchmark_id].add(counts[persona.pk])
    return totals


def tasks_with_counts(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Annotated with ``n_intents``, ``n_items``, ``n_errors`` and ``n_warnings``."""
    return tasks.annotate(
        n_intents=_count(HiddenIntent.objects.all()),
        n_items=_count(ChecklistItem.objects.exclude(criterion="")),
        n_errors=_count(open_findings().filter(severity="error")),
        n_warnings=_count(open_findings().filter(severity="warning")),
    )


def _count(rows: QuerySet[Any]) -> object:
    counted = rows.filter(task=OuterRef("pk")).order_by().values("task").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)
