"""What blocks a release, by kind, for pages, and what would if nobody had accepted it.

Before the first pilot every task is a blocker. Those of the two kinds that are that common are counted by the database,
and only read when they are shown; all others come from the rules that a release is cut by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Exists, F, OuterRef, QuerySet
from django.urls import reverse

from evaluation.assistance.provenance import tasks_with_proposed_texts
from evaluation.audits.blindness import is_evidence_closed
from evaluation.models import ReleaseException
from evaluation.releases.candidate import CandidateTask, candidate_task, load_candidate, missing_tools
from evaluation.releases.elsewhere import unaccepted_approvals
from evaluation.releases.evidence import real_sessions
from evaluation.releases.exceptions import Accepted, Exceptions
from evaluation.releases.readiness import (
    NOT_APPROVED,
    NOT_PILOTED,
    Blocker,
    find_blockers,
    not_approved,
    not_piloted,
)
from evaluation.releases.told import told_now
from studio.access import benchmarks_allowing
from studio.models import Benchmark, Revision, Task, TaskState, User
from studio.models.tasks import APPROVED, OUTDATED
from studio.reports.progress import by_latest_activity
from studio.reports.statistics import totals_of
from studio.reports.todo import TodoGroup, TodoItem


@dataclass(frozen=True)
class BlockerKind:
    """Blockers with the same code; for a paginator."""

    code: str
    number: int
    acceptable: bool
    read: Callable[[slice], list[Blocker]]

    def count(self) -> int:
        return self.number

    __len__ = count

    def __getitem__(self, part: slice) -> list[Blocker]:
        return self.read(part)


class Readiness(NamedTuple):
    kinds: list[BlockerKind]
    """Those that nobody accepted, smallest first."""
    accepted: list[Accepted]
    exceptions: list[ReleaseException]


def readiness_of(benchmark: Benchmark, *, sealed: bool = False) -> Readiness:
    """By the rules that a release is cut by. ``sealed``: without what audits and pilots found."""
    tasks = released_tasks(benchmark)
    total = totals_of("benchmark", [benchmark.pk])[benchmark.pk]
    lacking, exceptions = missing_tools(benchmark), Exceptions(benchmark)
    apart = _tasks_apart(benchmark, tasks, errors=total.findings["error"]) | lacking.keys()
    apart |= _tasks_named(tasks, exceptions)
    found = find_blockers(load_candidate(benchmark, apart, lacking), may_be_empty=bool(total.tasks), sealed=sealed)
    found, accepted = exceptions.split([*found, *told_now(benchmark)])
    rest = [blocker for blocker in found if blocker.code not in (NOT_APPROVED, NOT_PILOTED)]
    kinds = [_listed(code, list(same)) for code, same in groupby(rest, key=lambda blocker: blocker.code)]
    passed = {code: {each.task_pk for each, _ in accepted if each.code == code and each.task_pk} for code in COUNTED}
    older = {blocker.task_pk: blocker for blocker in found if blocker.code == NOT_PILOTED}
    piloted = apart - older.keys()
    kinds += [
        _counted(
            NOT_APPROVED,
            tasks.exclude(state__in=APPROVED).exclude(pk__in=passed[NOT_APPROVED]),
            total.tasks - sum(total.states[state] for state in APPROVED) - len(passed[NOT_APPROVED]),
            not_approved,
        ),
        _counted(
            NOT_PILOTED,
            tasks.exclude(pk__in=piloted),
            total.tasks - (tasks.filter(pk__in=piloted).order_by().count() if piloted else 0),
            lambda task: older.get(task.pk) or not_piloted(task),
        ),
    ]
    kinds = sorted((kind for kind in kinds if kind.number), key=lambda kind: (kind.number, kind.code))
    return Readiness(kinds, accepted, exceptions.rows)


def open_blockers(benchmark: Benchmark) -> list[Blocker]:
    """All of those, smallest kinds first."""
    return [blocker for kind in readiness_of(benchmark).kinds for blocker in kind[:]]


def released_tasks(benchmark: Benchmark) -> QuerySet[Task]:
    """Those that a release would have, in its order."""
    return (
        Task.objects.filter(persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .select_related("persona__benchmark")
        .order_by("persona__position", "persona__user_id", "position", "task_id")
    )


def _tasks_named(tasks: QuerySet[Task], exceptions: Exceptions) -> set[int]:
    """By exceptions from what is counted only."""
    personas, named = exceptions.reach(COUNTED)
    if not personas and not named:
        return set()
    rows = tasks.order_by().values_list("pk", "persona__user_id", "task_id")
    return {pk for pk, persona, task in rows if persona in personas or (persona, task) in named}


def _tasks_apart(benchmark: Benchmark, tasks: QuerySet[Task], *, errors: int) -> set[int]:
    """Tasks about which more may be said than that they are not approved and not piloted. ``errors``: open ones in the
    benchmark."""
    with connection.cursor() as cursor:
        cursor.execute(PRESENT, [benchmark.pk] * 3)
        graded, piloted, elsewhere = cursor.fetchone()
    return {
        *(tasks.filter(n_errors__gt=0).order_by().values_list("pk", flat=True) if errors else ()),
        *(tasks.exclude(grader_path="").order_by().values_list("pk", flat=True) if graded else ()),
        *tasks.filter(OUTDATED).order_by().values_list("pk", flat=True),
        *(_tasks_piloted(benchmark) if piloted else ()),
        *(approval.task for approval in (unaccepted_approvals(benchmark) if elsewhere else ())),
        *tasks_with_proposed_texts(benchmark, scripted=True),
    }


PRESENT = """SELECT
    EXISTS (SELECT FROM studio_task t JOIN studio_persona p ON p.id = t.persona_id
             WHERE p.benchmark_id = %s AND t.grader_path <> ''),
    EXISTS (SELECT FROM evaluation_pilot WHERE benchmark_id = %s AND NOT scripted AND imported = ''),
    EXISTS (SELECT FROM studio_review r JOIN studio_revision v ON v.id = r.revision_id
              JOIN studio_task t ON t.id = v.task_id JOIN studio_persona p ON p.id = t.persona_id
             WHERE r.decision = 'approved_elsewhere' AND p.benchmark_id = %s)"""
"""What need be asked about at all: whether there are tasks with grader scripts, pilots that may count, and approvals
elsewhere."""


def _tasks_piloted(benchmark: Benchmark) -> Iterable[Any]:
    """Keys of tasks whose newest version a real agent ran."""
    piloted = list(real_sessions(benchmark).values_list("revision", flat=True).distinct())
    newest = Revision.objects.filter(pk__in=piloted, number=F("task__version"))
    return newest.order_by().values_list("task", flat=True) if piloted else ()


COUNTED = (NOT_APPROVED, NOT_PILOTED)
"""Of which there may be as many as tasks."""


def _listed(code: str, blockers: list[Blocker]) -> BlockerKind:
    return BlockerKind(code, len(blockers), blockers[0].acceptable, blockers.__getitem__)


def _counted(
    code: str, tasks: QuerySet[Task], number: int, blocker_of: Callable[[CandidateTask], Blocker]
) -> BlockerKind:
    def read(part: slice) -> list[Blocker]:
        keys = list(tasks.values_list("pk", flat=True)[part])
        rows = Task.objects.select_related("persona").only(*SHOWN).in_bulk(keys)
        return [blocker_of(candidate_task(rows[key], rows[key].persona)) for key in keys if key in rows]

    return BlockerKind(code, number, True, read)


SHOWN = (
    *("task_id", "title", "state", "grader_path", "content", "approved_content", "split"),
    *("persona__name", "persona__user_id"),
)


MOST = 3
"""Benchmarks whose blockers are counted on Home: those with the latest activity."""


def _releasable(user: User) -> QuerySet[Benchmark]:
    tasks = Task.objects.filter(persona__benchmark=OuterRef("pk")).exclude(state=TaskState.RETIRED)
    return by_latest_activity(benchmarks_allowing(user, "release").filter(Exists(tasks)))


def blocked_releases(user: User, most: int) -> list[TodoGroup]:
    items = []
    for benchmark in _releasable(user)[:MOST]:
        sealed = is_evidence_closed(user, benchmark)
        if number := sum(kind.number for kind in readiness_of(benchmark, sealed=sealed).kinds):
            address = reverse("evaluation:release_new", args=[benchmark.slug])
            note = f"{number} blocker{'' if number == 1 else 's'}"
            items.append(TodoItem("What blocks the next release", address, str(benchmark), "", note))
    return [TodoGroup("releases", "Releases", tuple(items), len(items))]
