"""Tasks that an import marked as approved: accepted by name before they are released."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.db.models import F, QuerySet

from evaluation.models import ElsewhereAcceptance
from studio.domain.options import OptionsError
from studio.drafts.authors import authors_of_newest
from studio.models import Benchmark, Event, Review, Task, User
from studio.models.tasks import APPROVED
from studio.models.transactions import atomic_with_retry


class ElsewhereApproval(NamedTuple):
    task: int
    confirmed_by: str
    """Empty if nobody had to confirm it then."""
    date: str


def unaccepted_approvals(benchmark: Benchmark) -> list[ElsewhereApproval]:
    """Tasks whose newest version an import marked as approved, which nobody who may release has accepted."""
    rows = (
        _unaccepted(benchmark)
        .select_related("reviewer", "revision__task")
        .defer("revision__spec", "revision__task__spec")
    )
    return [
        ElsewhereApproval(row.revision.task_id, str(row.reviewer or ""), f"{row.created_at:%Y-%m-%d}") for row in rows
    ]


@atomic_with_retry
def accept_elsewhere(benchmark: Benchmark, tasks: Collection[int] | None = None, *, by: User) -> int:
    """Accept the approvals of these tasks, or of all; returns how many. Raises OptionsError for who wrote part of
    them."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    rows = _unaccepted(benchmark)
    if tasks is not None:
        rows = rows.filter(revision__task__in=tasks)
    reviews = list(rows.values_list("pk", "revision__task"))
    if not reviews:
        raise OptionsError("", "There is no approval elsewhere to accept; somebody may have accepted it already.")
    accepted = list(Task.objects.filter(pk__in=[task for _, task in reviews]).select_related("persona"))
    authors = authors_of_newest(accepted)
    if own := [task for task in accepted if by.pk in authors[task.pk]]:
        raise OptionsError("", f"You wrote part of “{own[0]}”, so someone else has to accept its approval elsewhere.")
    ElsewhereAcceptance.objects.bulk_create(ElsewhereAcceptance(review_id=review, by=by) for review, _ in reviews)
    Event.objects.bulk_create(
        Event(
            benchmark=benchmark,
            persona=task.persona,
            task=task,
            actor=by,
            verb="accepted_elsewhere",
            summary=f"Accepted that version {task.version} was approved elsewhere.",
            data={"version": task.version},
        )
        for task in accepted
    )
    return len(accepted)


def _unaccepted(benchmark: Benchmark) -> QuerySet[Review]:
    return Review.objects.filter(
        decision=Review.Decision.APPROVED_ELSEWHERE,
        acceptance=None,
        revision__task__persona__benchmark=benchmark,
        revision__number=F("revision__task__version"),
        revision__task__state__in=APPROVED,
    )
