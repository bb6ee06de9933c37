"""Second opinions: which are on record, and asking for those that are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from django.utils import timezone

from evaluation.assistance.answers import is_read_wholly
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.proposals import Degree, ProposedChange
from evaluation.leases import wake_workers
from evaluation.models import AssistantModel, OpinionRequest, Proposal, SecondOpinion
from evaluation.models.leased import LeasedRows, free
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import OpinionQuestion, is_written, leak_question
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.findings.refresh import refresh_findings

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


def said_of_leaks(
    request: ProposalRequest, spec: TaskSpec, assistant: AssistantModel
) -> tuple[ProposedChange, ...] | None:
    """The answer by second opinions; None unless each intent has one of the same model."""
    endpoint = assistant.endpoint
    if request.kind != "leaks" or endpoint is None or endpoint.scripted:
        return None
    intents = [intent for intent in spec.intents if is_written(intent.content)]
    questions = [leak_question(intent.content, spec) for intent in intents]
    opinions = opinions_of(assistant.benchmark_id, endpoint.pk, questions)
    if any(question.key not in opinions for question in questions):
        return None
    said = [
        (intent, opinion.quote, cast(Degree, opinion.degree))
        for intent, opinion in zip(intents, (opinions[question.key] for question in questions), strict=True)
        if opinion.degree in ("partly", "wholly")
    ]
    return tuple(
        ProposedChange(field="intents", uid=intent.uid, text=intent.content, quote=quote, degree=degree)
        for intent, quote, degree in said
    )


def record_leaks(proposal: Proposal, spec: TaskSpec, changes: Sequence[ProposedChange], answer: str) -> None:
    """An answered proposal of kind ``leaks`` as second opinions; of intents without one only if all was read."""
    if proposal.kind != "leaks" or proposal.scripted:
        return
    said = {change.uid: change for change in changes}
    whole = is_read_wholly(answer, spec)
    store_opinions(
        proposal.task.persona.benchmark_id,
        proposal.endpoint_id,
        {
            leak_question(intent.content, spec).key: _opinion(said.get(intent.uid), spec)
            for intent in spec.intents
            if is_written(intent.content) and (whole or intent.uid in said)
        },
    )
    refresh_findings([proposal.task.persona], ask=False)


def _opinion(change: ProposedChange | None, spec: TaskSpec) -> Opinion:
    if change is None:
        return Opinion(degree="none")
    return Opinion(degree=change.degree, quote=change.quote if change.quote in opening_text(spec) else "")
