"""Second opinions: which are on record, and asking for those that are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import timedelta

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evaluation.models import AssistantModel, OpinionRequest, SecondOpinion
from studio.celery import enqueue
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import OpinionQuestion
from studio.models.statements import PreparedQuery

RUN_OPINIONS = "evaluation.tasks.run_opinions"
State = OpinionRequest.State
RESEND_AFTER = timedelta(seconds=30)
"""A queue message that no worker has acted on is sent again."""


def known_opinions(benchmark: int, questions: Iterable[OpinionQuestion]) -> Mapping[str, Opinion] | None:
    """Opinions on record by the questions' keys; None if no model is asked. Scripted models are not: they have none."""
    connected = _CONNECTED.values(benchmark)
    return opinions_of(benchmark, connected[0], questions) if connected else None


_CONNECTED = PreparedQuery(
    lambda benchmark: (
        AssistantModel.objects.filter(benchmark=benchmark, endpoint__scripted=False)
        .order_by("pk")
        .values_list("endpoint")[:1]
    )
)


def opinions_of(benchmark: int, endpoint: int, questions: Iterable[OpinionQuestion]) -> dict[str, Opinion]:
    keys = {question.key for question in questions}
    rows = SecondOpinion.objects.filter(benchmark=benchmark, endpoint=endpoint, key__in=keys)
    return {
        key: Opinion(degree=degree, quote=quote, count=count)
        for key, degree, quote, count in rows.values_list("key", "degree", "quote", "count")
    }


def store_opinions(benchmark: int, endpoint: int, opinions: Mapping[str, Opinion]) -> None:
    rows = [
        SecondOpinion(
            benchmark_id=benchmark,
            endpoint_id=endpoint,
            key=key,
            degree=opinion.degree,
            quote=opinion.quote,
            count=opinion.count,
        )
        for key, opinion in sorted(opinions.items())
    ]
    SecondOpinion.objects.bulk_create(rows, ignore_conflicts=True)


def request_opinions(tasks: Collection[int]) -> None:
    """Let a worker ask about the newest versions of these tasks after the commit."""
    now = timezone.now()
    OpinionRequest.objects.bulk_create(
        [OpinionRequest(task_id=pk, asked_at=now) for pk in sorted(tasks)],
        update_conflicts=True,
        unique_fields=["task"],
        update_fields=["state", "asked_at", "problem", "attempts"],
    )
    transaction.on_commit(lambda: enqueue(RUN_OPINIONS, tasks), robust=True)


def resend_unclaimed() -> None:
    now = timezone.now()
    unclaimed = OpinionRequest.objects.filter(state=State.ASKED).filter(
        Q(lease_until__lt=now) | Q(lease_until=None, asked_at__lt=now - RESEND_AFTER)
    )
    enqueue(RUN_OPINIONS, unclaimed.values_list("pk", flat=True))
