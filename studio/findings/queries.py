"""Queries of open and waived findings."""

from __future__ import annotations

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Subquery, TextField, When

from studio.models import (
    Benchmark,
    ErrorWaiver,
    Finding,
    Task,
    Waiver,
)


def open_findings() -> QuerySet[Finding]:
    same = {"task": OuterRef("task"), "fingerprint": OuterRef("fingerprint")}
    return Finding.objects.exclude(~Q(severity="error") & Exists(Waiver.objects.filter(**same))).exclude(
        Q(severity="error") & Exists(ErrorWaiver.objects.filter(**same))
    )


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


def finding_counts(benchmark: Benchmark) -> dict[str, int]:
    rows = open_findings().filter(task__episode__persona__benchmark=benchmark).order_by()
    return dict.fromkeys(("error", "warning", "hint"), 0) | dict(rows.values_list("severity").annotate(Count("pk")))


WEIGHT = Case(When(severity="error", then=0), When(severity="warning", then=1), default=2)


def findings_of_task(task: Task) -> QuerySet[Finding]:
    return Finding.objects.filter(task=task).order_by(WEIGHT, "pk")


def findings_of(benchmark: Benchmark, *, severity: str = "", everything: bool = False) -> QuerySet[Finding]:
    """A benchmark's open findings, errors first, then in the order of personas and tasks. With ``everything`` also the
    waived ones, annotated with the reason as ``waived``."""
    rows = (findings_with_waivers() if everything else open_findings()).filter(
        task__episode__persona__benchmark=benchmark
    )
    if severity:
        rows = rows.filter(severity=severity)
    return rows.select_related("task__episode__persona__benchmark").order_by(
        WEIGHT, "task__episode__persona__position", "task__position", "pk"
    )
