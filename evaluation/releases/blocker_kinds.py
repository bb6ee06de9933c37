"""What blocks a release, by kind, for pages.

Before the first pilot every task is a blocker. Those of the two kinds that are that common are counted by the database,
and only read when they are shown; all others come from the rules that a release is cut by.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from django.db.models import F, QuerySet

from evaluation.assistance.provenance import tasks_with_scripted_texts
from evaluation.releases.candidate import CandidateTask, load_candidate
from evaluation.releases.elsewhere import unaccepted_approvals
from evaluation.releases.evidence import real_sessions
from evaluation.releases.missing_tools import missing_tools
from evaluation.releases.readiness import (
    NOT_APPROVED,
    NOT_PILOTED,
    RELEASABLE,
    Blocker,
    find_blockers,
    not_approved,
    not_piloted,
)
from studio.models import Benchmark, Revision, Task, TaskState, TaskSummary
from studio.search.task_filters import read_tasks


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


def blocker_kinds(benchmark: Benchmark) -> list[BlockerKind]:
    """Those of ``release_blockers``, smallest kinds first."""
    tasks = (
        TaskSummary.objects.filter(persona__benchmark=benchmark)
        .exclude(state=TaskState.RETIRED)
        .order_by("persona__position", "persona__user_id", "position", "name")
    )
    apart = _tasks_apart(benchmark, tasks)
    found = find_blockers(load_candidate(benchmark, apart), may_be_empty=tasks.exists())
    rest = [blocker for blocker in found if blocker.code not in (NOT_APPROVED, NOT_PILOTED)]
    kinds = [_listed(code, list(same)) for code, same in groupby(rest, key=lambda blocker: blocker.code)]
    older = {blocker.task_pk: blocker for blocker in found if blocker.code == NOT_PILOTED}
    kinds += [
        _counted(NOT_APPROVED, tasks.exclude(state__in=RELEASABLE), not_approved),
        _counted(
            NOT_PILOTED,
            tasks.exclude(pk__in=apart - older.keys()),
            lambda task: older.get(task.pk) or not_piloted(task),
        ),
    ]
    return sorted((kind for kind in kinds if kind.number), key=lambda kind: (kind.number, kind.code))


def _tasks_apart(benchmark: Benchmark, tasks: QuerySet[TaskSummary]) -> set[int]:
    """Tasks about which more may be said than that they are not approved and not piloted."""
    graded = Task.objects.filter(episode__persona__benchmark=benchmark).exclude(grader_path="")
    piloted = list(real_sessions(benchmark).values_list("revision__sha256", flat=True).distinct())
    newest = Revision.objects.filter(task__episode__persona__benchmark=benchmark, number=F("task__version"))
    return {
        *tasks.filter(errors__gt=0).order_by().values_list("pk", flat=True),
        *graded.order_by().values_list("pk", flat=True),
        *(newest.filter(sha256__in=piloted).order_by().values_list("task", flat=True) if piloted else ()),
        *(approval.task for approval in unaccepted_approvals(benchmark)),
        *tasks_with_scripted_texts(benchmark),
        *missing_tools(benchmark),
    }


def _listed(code: str, blockers: list[Blocker]) -> BlockerKind:
    return BlockerKind(code, len(blockers), blockers[0].acceptable, blockers.__getitem__)


def _counted(code: str, tasks: QuerySet[TaskSummary], blocker_of: Callable[[CandidateTask], Blocker]) -> BlockerKind:
    def read(part: slice) -> list[Blocker]:
        return [blocker_of(_candidate(task)) for task in read_tasks(tasks.values_list("pk", flat=True)[part])]

    return BlockerKind(code, tasks.order_by().count(), True, read)


def _candidate(task: Task) -> CandidateTask:
    return CandidateTask(task.pk, str(task), task.task_id, task.state, "", task.episode.persona, 0)
