"""Second opinions: which are on record, and asking for those that are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from django.utils import timezone

from evaluation.leases import wake_workers
from evaluation.models import AssistantModel, OpinionRequest, SecondOpinion
from evaluation.models.leased import LeasedRows, free
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import OpinionQuestion

State = OpinionRequest.State


def known_opinions(benchmark: int, questions: Iterable[OpinionQuestion]) -> Mapping[str, Opinion] | None:
    """Opinions on record by the questions' keys; None if no model is asked. Scripted models are not: they have none."""
    rows = AssistantModel.objects.filter(benchmark=benchmark, endpoint__scripted=False).order_by("pk")
    endpoint = rows.values_list("endpoint", flat=True).first()
    return opinions_of(benchmark, endpoint, questions) if endpoint else None


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
    wake_workers()


def due_requests() -> LeasedRows[OpinionRequest]:
    return OpinionRequest.objects.filter(free(), state=State.ASKED)
