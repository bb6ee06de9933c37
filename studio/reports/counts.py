"""Counts and lists that pages show, in a number of queries that does not depend on how much there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Case, Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery, TextField, When
from django.db.models.functions import Coalesce

from studio.domain.statistics import Figures
from studio.models import (
    Assignment,
    Benchmark,
    ChecklistItem,
    Event,
    Finding,
    GraderScript,
    HiddenIntent,
    Persona,
    Review,
    Revision,
    SetAside,
    Task,
    TaskState,
    User,
    Waiver,
)
from studio.reports.statistics import held_by


@dataclass
class Counts:
    """What a persona or a benchmark holds, and how far it is."""

    personas: int = 0
    held: Figures = field(default_factory=Figures)
    uncounted: int = 0
    """Grader scripts that tasks name and whose checks could not be counted."""
    states: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    """By severity, without what was waived."""

    def add(self, other: Counts) -> None:
        self.personas += other.personas
        self.held += other.held
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


def open_findings() -> QuerySet[Finding]:
    """Findings that nobody waived, and errors that nobody set aside."""
    same = {"task": OuterRef("task"), "fingerprint": OuterRef("fingerprint")}
    return Finding.objects.exclude(~Q(severity="error") & Exists(Waiver.objects.filter(**same))).exclude(
        Q(severity="error") & Exists(SetAside.objects.filter(**same))
    )


def judged_findings() -> QuerySet[Finding]:
    """All findings, each with the reason for which it was ``waived`` or set aside; null where it stands open."""
    same = {"task": OuterRef("task"), "fingerprint": OuterRef("fingerprint")}
    return Finding.objects.annotate(
        waived=Case(
            When(severity="error", then=Subquery(SetAside.objects.filter(**same).values("reason")[:1])),
            default=Subquery(Waiver.objects.filter(**same).values("reason")[:1]),
            output_field=TextField(null=True),
        )
    )


def persona_counts(personas: Iterable[Persona]) -> dict[int, Counts]:
    """Counts by the persona's pk."""
    keys = [persona.pk for persona in personas]
    held = held_by(keys)
    counts = {key: Counts(personas=1, held=held[key]) for key in keys}
    of_task = Q(task__episode__persona__in=keys)
    tasks = Task.objects.filter(episode__persona__in=keys).order_by()
    for key, state, number in tasks.values_list("episode__persona", "state").annotate(Count("pk")):
        counts[key].states[state] += number
    for key in GraderScript.objects.filter(persona__in=keys, keys=None).values_list("persona", flat=True):
        counts[key].uncounted += 1
    there = {(key, path) for key, path in GraderScript.objects.filter(persona__in=keys).values_list("persona", "path")}
    for key, user_id, path in tasks.exclude(grader_path="").values_list(
        "episode__persona", "episode__persona__user_id", "grader_path"
    ):
        below = path.strip().removeprefix("./").removeprefix(f"data/{user_id}/")
        counts[key].uncounted += (key, below) not in there
    for key, severity, number in (
        open_findings().filter(of_task).order_by().values_list("task__episode__persona", "severity")
        .annotate(Count("pk"))
    ):  # fmt: skip
        counts[key].findings[severity] += number
    return counts


def benchmark_counts(benchmarks: Iterable[Benchmark]) -> dict[int, Counts]:
    """Counts by the benchmark's pk: those of its personas, added up."""
    totals = {benchmark.pk: Counts() for benchmark in benchmarks}
    personas = list(Persona.objects.filter(benchmark__in=totals).only("pk", "benchmark_id"))
    counts = persona_counts(personas)
    for persona in personas:
        totals[persona.benchmark_id].add(counts[persona.pk])
    return totals


def tasks_with_counts(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Tasks that know ``n_intents``, ``n_items``, ``n_errors`` and ``n_warnings``."""
    return tasks.annotate(
        n_intents=_count(HiddenIntent.objects.all()),
        n_items=_count(ChecklistItem.objects.exclude(criterion="")),
        n_errors=_count(open_findings().filter(severity="error")),
        n_warnings=_count(open_findings().filter(severity="warning")),
    )


def drafts_of(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Drafts and returned tasks this person is to write, or wrote last where nobody else is to: what they are named
    for first, then the newest."""
    newest = Revision.objects.filter(task=OuterRef("pk"), number=OuterRef("version"), created_by=user)
    return (
        _tasks(benchmarks)
        .annotate(mine=Exists(_named("writer").filter(user=user)))
        .filter(Q(mine=True) | (Exists(newest) & ~Exists(_named("writer"))))
        .filter(state__in=[TaskState.DRAFT, TaskState.CHANGES_REQUESTED])
        .order_by("-mine", "-state", "-updated_at")
    )  # fmt: skip


def sent_back(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks this person is to write or had a hand in and of which changes were asked, what they are named for first."""
    wrote = Revision.objects.filter(task=OuterRef("pk"), created_by=user)
    return (
        _tasks(benchmarks)
        .annotate(mine=Exists(_named("writer").filter(user=user)))
        .filter(Q(mine=True) | Exists(wrote), state=TaskState.CHANGES_REQUESTED)
        .order_by("-mine", "-updated_at")
    )


def waiting_for(user: User, benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    """Tasks in review that this person may review, did not write last and has not approved yet: those they are asked
    to review first, then those for which fewer are asked than have to approve."""
    wrote = Revision.objects.filter(task=OuterRef("pk"), number=OuterRef("version"), created_by=user)
    said_yes = Review.objects.filter(
        revision__task=OuterRef("pk"), revision__number=OuterRef("version"), reviewer=user, decision="approved"
    )
    reviewing = benchmarks.filter(memberships__user=user, memberships__role__in=["owner", "reviewer"])
    asked = _named("reviewer").order_by().values("task").annotate(n=Count("pk")).values("n")
    return (
        _tasks(reviewing)
        .annotate(
            mine=Exists(_named("reviewer").filter(user=user)),
            asked=Coalesce(Subquery(asked, output_field=IntegerField()), 0),
        )
        .filter(Q(mine=True) | Q(asked__lt=F("episode__persona__benchmark__approvals_needed")))
        .filter(~Exists(wrote), ~Exists(said_yes), state=TaskState.IN_REVIEW)
        .order_by("-mine", "updated_at")
    )


def _named(part: str) -> QuerySet[Assignment]:
    return Assignment.objects.filter(task=OuterRef("pk"), part=part)


def recent_events(benchmarks: QuerySet[Benchmark]) -> QuerySet[Event]:
    """What happened, newest first; of an import its one line, not one for every task."""
    single = Event.objects.exclude(verb__in=["imported", "approved_elsewhere"], persona__isnull=False)
    return single.filter(benchmark__in=benchmarks).select_related(
        "benchmark", "actor", "persona__benchmark", "task__episode__persona__benchmark"
    )


def _tasks(benchmarks: QuerySet[Benchmark]) -> QuerySet[Task]:
    return Task.objects.filter(episode__persona__benchmark__in=benchmarks).select_related("episode__persona__benchmark")


def _by_persona(rows: QuerySet) -> QuerySet:
    return rows.order_by().values_list("task__episode__persona").annotate(Count("pk"))


def _count(rows: QuerySet) -> object:
    counted = rows.filter(task=OuterRef("pk")).order_by().values("task").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted, output_field=IntegerField()), 0)


def finding_counts(benchmark: Benchmark) -> dict[str, int]:
    """A benchmark's open findings, by severity."""
    rows = open_findings().filter(task__episode__persona__benchmark=benchmark).order_by()
    return dict.fromkeys(("error", "warning", "hint"), 0) | dict(rows.values_list("severity").annotate(Count("pk")))


WEIGHT = Case(When(severity="error", then=0), When(severity="warning", then=1), default=2)


def findings_of_task(task: Task) -> QuerySet[Finding]:
    """All findings of a task, errors first, then as the checks told them."""
    return Finding.objects.filter(task=task).order_by(WEIGHT, "pk")


def findings_of(benchmark: Benchmark, *, severity: str = "", everything: bool = False) -> QuerySet[Finding]:
    """A benchmark's open findings, errors first, then in the order of personas and tasks.

    ``everything``: those that may stay as well, and ``waived`` of each says why.
    """
    rows = (judged_findings() if everything else open_findings()).filter(task__episode__persona__benchmark=benchmark)
    if severity:
        rows = rows.filter(severity=severity)
    return rows.select_related("task__episode__persona__benchmark").order_by(
        WEIGHT, "task__episode__persona__position", "task__position", "pk"
    )
