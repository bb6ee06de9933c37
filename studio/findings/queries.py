"""Queries of open and waived findings."""

from __future__ import annotations

from functools import cached_property

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, TextField, When

from studio.models import (
    Benchmark,
    ErrorWaiver,
    Finding,
    PersonaSummary,
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


def blocking_findings() -> QuerySet[Finding]:
    """Open findings with which a task cannot be approved: errors, and blanks of a template."""
    return open_findings().filter(Q(severity="error") | Q(rule="to-fill-in"))


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
    rows = findings_with_waivers().filter(task__episode__persona__benchmark=benchmark)
    if severity:
        rows = rows.filter(severity=severity)
    return rows.select_related("task__episode__persona__benchmark").order_by(
        WEIGHT, "task__episode__persona__position", "task__position", "pk"
    )


class OpenFindings:
    """A benchmark's open findings in the order of ``findings_of``, for a paginator: counted from the summaries of
    personas, and only those that a slice falls on are read."""

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
                rows += self._slice(severity, max(start - first, 0), stop - first)
            first += self.totals[severity]
        return rows

    @cached_property
    def totals(self) -> dict[str, int]:
        return {severity: sum(numbers[severity] for _, numbers in self._by_persona) for severity in SEVERITIES}

    @cached_property
    def _by_persona(self) -> list[tuple[int, dict[str, int]]]:
        rows = (
            PersonaSummary.objects.filter(persona__benchmark=self.benchmark)
            .order_by("persona__position", "persona__user_id")
            .values_list("persona", *(f"{severity}s" for severity in SEVERITIES))
        )
        return [(persona, dict(zip(SEVERITIES, numbers, strict=True))) for persona, *numbers in rows]

    def _slice(self, severity: str, start: int, stop: int) -> list[Finding]:
        personas: list[int] = []
        before = first = 0
        for persona, numbers in self._by_persona:
            if first < stop and first + numbers[severity] > start:
                before = before if personas else first
                personas.append(persona)
            first += numbers[severity]
        persona_of = "task__episode__persona"
        rows = open_findings().filter(severity=severity, task__episode__persona__in=personas)
        fields = ("severity", "field", "item", "message", "fix", "task__title", "task__task_id")
        rows = rows.select_related(f"{persona_of}__benchmark").only(
            *fields, *(f"{persona_of}__{name}" for name in ("name", "user_id", "benchmark__slug"))
        )
        ordered = rows.order_by(f"{persona_of}__position", f"{persona_of}__user_id", "task__position", "pk")
        return list(ordered[start - before : stop - before])
