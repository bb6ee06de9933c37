"""Blocked releases on the to-do list of those who can release."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from evaluation.audits.blindness import is_evidence_closed
from evaluation.releases.blocker_kinds import readiness_of
from studio.access import benchmarks_allowing
from studio.models import Benchmark, Task, TaskState, User
from studio.reports.progress import by_latest_activity
from studio.reports.todo import TodoGroup, TodoItem

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
