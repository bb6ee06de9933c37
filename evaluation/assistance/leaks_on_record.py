"""What a request gives away is asked once: second opinions answer an author's question, and its answer is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from evaluation.assistance.answers import is_read_wholly
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.opinions import opinions_of, store_opinions
from evaluation.assistance.proposals import Degree, ProposedChange
from evaluation.models import AssistantModel, Proposal
from studio.domain.checks.opinions import Opinion
from studio.domain.checks.questions import is_written, leak_question
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec
from studio.findings.refresh import refresh_findings


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
