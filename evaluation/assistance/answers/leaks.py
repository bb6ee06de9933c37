"""Hidden intents that the request gives away."""

from __future__ import annotations

from typing import Literal

from pydantic import ValidationError

from evaluation.assistance.answers.base import MAX_ROWS, AnswerModel, clean_note, read_rows, require_intent
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import UnusableAnswerError, extract_document, occurs
from studio.domain.checks.sources import opening_text
from studio.domain.task import TaskSpec

MAX_LEAKS = 4 * MAX_ROWS


class ReportedLeak(AnswerModel):
    intent: int
    degree: Literal["wholly", "partly"]
    quote: str = ""
    why: str = ""


class ReportedLeaks(AnswerModel):
    given_away: list[ReportedLeak]


def read(answer: ReportedLeaks, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    """One change per intent; a quote that does not occur in the request is left out."""
    task = material.task

    def read_leak(leak: ReportedLeak) -> ProposedChange | None:
        require_intent(leak.intent, material)
        quoted = occurs(leak.quote, opening_text(task))
        intent = task.intents[leak.intent - 1]
        return ProposedChange(
            field="intents",
            uid=intent.uid,
            text=intent.content,
            why=clean_note(leak.why),
            quote=clean_note(leak.quote) if quoted else "",
            supported=quoted,
            degree=leak.degree,
        )

    changes = {change.uid: change for change in reversed(read_rows(answer.given_away[:MAX_LEAKS], read_leak))}
    return tuple(changes[intent.uid] for intent in task.intents if intent.uid in changes)


def is_read_wholly(answer: str, task: TaskSpec) -> bool:
    """Whether ``read`` leaves out no row, so that an intent without one is not given away."""
    try:
        rows = ReportedLeaks.model_validate(extract_document(answer)).given_away
    except (ValidationError, UnusableAnswerError):
        return False
    return len(rows) <= MAX_LEAKS and all(1 <= row.intent <= len(task.intents) for row in rows)
