"""Queries of open and waived findings."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, Sum, TextField, When
from django.db.models.functions import Coalesce

from studio.models import (
    Benchmark,
    ErrorWaiver,
    Finding,
    Task,
    Waiver,
)

SEVERITIES = ("error", "warning", "hint")
"""In the order of lists."""


def open_findings() -> QuerySet[Finding]:
    same = {"task": OuterRef("task"), "fingerprint": OuterRef("fingerprint")}
    return Finding.objects.exclude(~Q(severity="error") & Exists(Waiver.objects.filter(**same))).exclude(
        Q(severity="error") & Exists(ErrorWaiver.objects.filter(**same))
    )


BLANK = "to-fill-in"
"""The rule that finds blanks of a template. They must be filled in before a review."""


def open_blanks(tasks: Iterable[Task]) -> QuerySet[Finding]:
    return open_findings().filter(task__in=tasks, rule=BLANK)


def blocking_findings() -> QuerySet[Finding]:
    """Open findings with which a task cannot be approved: errors, and blanks of a template."""
    return open_findings().filter(Q(severity="error") | Q(rule=BLANK))


def findings_with_waivers() -> QuerySet[Finding]:
    """Annotated with the reason of the waiver as ``waived``; null if the finding is open."""
    same = {"task": OuterRef("task"), "fingerprint": OuterRef("fingerprint")}
    return Finding.objects.annotate(
        waived=Case(
            When(severity="error", then=Subquery(ErrorWaiver.objects.filter(**same).values("reason")[:1])),
            default=Subquery(Waiver.objects.filter(**same).values("reason")[:1]),
            output_field=TextField(null=True),
        )
    )


WEIGHT = Case(When(severity="error", then=0), When(severity="warning", then=1), default=2)


def findings_of_task(task: Task) -> QuerySet[Finding]:
    return Finding.objects.filter(task=task).order_by(WEIGHT, "pk")


def findings_of(benchmark: Benchmark, *, severity: str = "") -> QuerySet[Finding]:
    """A benchmark's findings, errors first, then in the order of personas and tasks; ``waived`` is the reason of a
    waiver."""
    rows = findings_with_waivers().filter(task__persona__benchmark=benchmark)
    if severity:
        rows = rows.filter(severity=severity)
    return (
        rows.select_related("task__persona__benchmark")
        .defer("task__spec")
        .order_by(WEIGHT, "task__persona__position", "task__position", "pk")
    )


class OpenFindings:
    """A benchmark's open findings in the order of ``findings_of``, for a paginator: counted from the columns of tasks,
    and only those of a slice are read."""

    def __init__(self, benchmark: Benchmark, severity: str = "") -> None:
        self.benchmark = benchmark
        self.severities = (severity,) if severity else SEVERITIES

    def count(self) -> int:
        return sum(self.totals[severity] for severity in self.severities)

    __len__ = count

    def __getitem__(self, part: slice) -> list[Finding]:
        """At most one query for each severity."""
        start, stop, _ = part.indices(self.count())
        rows: list[Finding] = []
        first = 0  # index of the first finding of this severity
        for severity in self.severities:
            if start < first + self.totals[severity] and first < stop:
                rows += self._of(severity)[max(start - first, 0) : stop - first]
            first += self.totals[severity]
        return rows

    @cached_property
    def totals(self) -> dict[str, int]:
        sums = {severity: Coalesce(Sum(f"n_{severity}s"), 0) for severity in SEVERITIES}
        return Task.objects.filter(persona__benchmark=self.benchmark).aggregate(**sums)

    def _of(self, severity: str) -> QuerySet[Finding]:
        persona_of = "task__persona"
        rows = open_findings().filter(severity=severity, **{f"{persona_of}__benchmark": self.benchmark})
        fields = ("rule", "severity", "field", "item", "message", "fix", "task__title", "task__task_id")
        return (
            rows.select_related(f"{persona_of}__benchmark")
            .only(*fields, *(f"{persona_of}__{name}" for name in ("name", "user_id", "benchmark__slug")))
            .order_by(f"{persona_of}__position", f"{persona_of}__user_id", "task__position", "pk")
        )


COUNTS = tuple(f"n_{severity}s" for severity in SEVERITIES)


def count_findings(tasks: Iterable[int]) -> None:
    """Store with these tasks how many open findings they have. Only what differs is locked, and counted again then."""
    if differing := _differing(Task.objects.filter(pk__in=list(tasks))):
        rows = Task.objects.select_for_update(no_key=True).filter(pk__in=[row.pk for row in differing])
        Task.objects.bulk_update(_differing(rows), COUNTS, batch_size=500)


def _differing(tasks: QuerySet[Task]) -> list[Task]:
    """Those whose numbers are not those of their findings, with the right ones."""
    rows = {row.pk: row for row in tasks.only(*COUNTS).order_by("pk")}
    counts = {pk: dict.fromkeys(COUNTS, 0) for pk in rows}
    found = open_findings().filter(task__in=rows).order_by().values_list("task", "severity").annotate(n=Count("pk"))
    for task, severity, number in found:
        counts[task][f"n_{severity}s"] = number
    differing = [row for pk, row in rows.items() if any(getattr(row, name) != n for name, n in counts[pk].items())]
    for row in differing:
        vars(row).update(counts[row.pk])
    return differing
