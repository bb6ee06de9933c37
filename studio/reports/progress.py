"""Progress of benchmarks: a grid of personas and tasks, in a constant number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import F, OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from studio.domain.phrases import count_of
from studio.models import Benchmark, Event, Persona, Task, TaskState
from studio.models.statuses import STATUSES
from studio.models.tasks import APPROVED
from studio.reports.statistics import totals_of

PERSONAS = 20
"""Rows of one grid; further personas are on the benchmark's page."""
MAX_MISSING = 40
"""Empty cells that a row has at most."""
STATES = ("released", "approved", "in_review", "changes_requested", "draft")
"""In the order of the legend. Retired tasks are left out."""


CELL_FIELDS = ("persona", "task_id", "title", "state", "position", "n_errors", "n_warnings")


@dataclass(frozen=True)
class TaskCell:
    task: Task
    number: int | None
    """Of its place in the episode, if any."""

    @property
    def colour(self) -> str:
        return STATUSES[self.task.state][0]

    @property
    def shape(self) -> str:
        return STATUSES[self.task.state][1]

    @property
    def label(self) -> str:
        findings = [
            count_of(count, severity)
            for count, severity in ((self.task.n_errors, "error"), (self.task.n_warnings, "warning"))
            if count
        ]
        position = f"{self.number}" if self.number else "Not in the episode"
        return f"{position} · {self.task}: {', '.join([STATUSES[self.task.state][2], *findings])}"


@dataclass
class PersonaRow:
    persona: Persona
    cells: list[TaskCell] = field(default_factory=list)
    planned: int = 0

    @property
    def missing(self) -> int:
        return max(0, self.planned - len(self.cells))

    @property
    def empty_cells(self) -> range:
        """Of planned tasks that were not started."""
        return range(min(self.missing, MAX_MISSING))

    @property
    def done(self) -> int:
        return sum(cell.task.state in APPROVED for cell in self.cells)


@dataclass
class BenchmarkProgress:
    benchmark: Benchmark
    rows: list[PersonaRow] = field(default_factory=list)
    personas: int = 0
    states: Counter[str] = field(default_factory=Counter)
    errors: int = 0
    """Open findings that block approval."""

    @property
    def tasks(self) -> int:
        return sum(count for state, count in self.states.items() if state != "retired")

    @property
    def done(self) -> int:
        return self.states["approved"] + self.states["released"]

    @property
    def planned(self) -> int:
        return self.personas * self.benchmark.plan_sessions

    @property
    def missing(self) -> int:
        return max(0, self.planned - self.tasks)

    @property
    def more(self) -> int:
        return self.personas - len(self.rows)

    @property
    def legend(self) -> list[tuple[str, int]]:
        return [(state, self.states[state]) for state in STATES if self.states[state]]

    @property
    def percent(self) -> int:
        return 100 * self.done // max(self.planned, self.tasks, 1)


def by_latest_activity(benchmarks: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """By latest activity (``touched_at``); benchmarks without any come last."""
    newest = Event.objects.filter(benchmark=OuterRef("pk")).order_by("-at").values("at")[:1]
    return benchmarks.annotate(touched_at=Subquery(newest)).order_by(F("touched_at").desc(nulls_last=True), "name")


def progress_of(benchmarks: Sequence[Benchmark]) -> list[BenchmarkProgress]:
    totals = totals_of("benchmark", [benchmark.pk for benchmark in benchmarks])
    return [
        BenchmarkProgress(benchmark, personas=total.personas, states=total.states, errors=total.findings["error"])
        for benchmark in benchmarks
        for total in [totals[benchmark.pk]]
    ]


def progress_grids(
    benchmarks: Sequence[Benchmark], *, limit: int = PERSONAS, start: int = 0
) -> list[BenchmarkProgress]:
    """With rows of the personas from index ``start``, at most ``limit`` for each benchmark."""
    result = progress_of(benchmarks)
    by_benchmark: dict[int, list[Persona]] = defaultdict(list)
    for persona in _first_of_each([benchmark.pk for benchmark in benchmarks], start, start + limit):
        by_benchmark[persona.benchmark_id].append(persona)
    rows: dict[int, PersonaRow] = {}
    for progress in result:
        for persona in by_benchmark[progress.benchmark.pk]:
            persona.benchmark = progress.benchmark
            rows[persona.pk] = PersonaRow(persona, planned=progress.benchmark.plan_sessions)
            progress.rows.append(rows[persona.pk])
    _fill(rows)
    return result


def _first_of_each(benchmarks: list[int], start: int, end: int) -> QuerySet[Persona]:
    number = Window(RowNumber(), partition_by="benchmark", order_by=["position", "user_id"])
    numbered = Persona.objects.filter(benchmark__in=benchmarks).annotate(number=number)
    rows = numbered.filter(number__gt=start, number__lte=end)
    return rows.only("user_id", "name", "benchmark", "occupation")


def _fill(rows: dict[int, PersonaRow]) -> None:
    """In order; what has no place in its episode comes last."""
    tasks = Task.objects.filter(persona__in=rows).exclude(state=TaskState.RETIRED)
    for task in tasks.order_by("persona", "position", "task_id").only(*CELL_FIELDS):
        row = rows[task.persona_id]
        task.persona = row.persona
        row.cells.append(TaskCell(task, None if task.position is None else len(row.cells) + 1))
