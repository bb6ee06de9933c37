"""A rewording of the request."""

from __future__ import annotations

from evaluation.assistance.answers.base import (
    AnswerModel,
    clean_note,
    clean_within,
    comparable,
    lost_numbers,
    max_length,
)
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError


class Rewording(AnswerModel):
    request: str
    why: str = ""


def read(answer: Rewording, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    before = material.task.initial_request
    text = clean_within(answer.request, max_length("initial_request", before))
    if not text:
        raise UnusableAnswerError("The request is empty.")
    if comparable(text) == comparable(before):
        raise UnusableAnswerError("The request is unchanged.")
    change = ProposedChange(
        field="initial_request", text=text, why=clean_note(answer.why), notes=lost_numbers(before, text)
    )
    return (change,)
