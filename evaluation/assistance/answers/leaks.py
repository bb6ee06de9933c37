"""Hidden intents that the request gives away."""

from __future__ import annotations

from typing import Literal

from evaluation.assistance.answers.base import MAX_ROWS, AnswerModel, clean_note, read_rows, require_intent
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import occurs
from studio.domain.checks.sources import opening_text


class ReportedLeak(AnswerModel):
    intent: int
    degree: Literal["wholly", "partly"]
    quote: str = ""
    why: str = ""


class ReportedLeaks(AnswerModel):
    given_away: list[ReportedLeak]


def read(answer: ReportedLeaks, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    """One change per intent; leaks whose quote does not occur in the request are ignored."""
    task = material.task

    def read_leak(leak: ReportedLeak) -> ProposedChange | None:
        require_intent(leak.intent, material)
        if not occurs(leak.quote, opening_text(task)):
            return None
        intent = task.intents[leak.intent - 1]
        return ProposedChange(
            field="intents",
            uid=intent.uid,
            text=intent.content,
            why=clean_note(leak.why),
            quote=clean_note(leak.quote),
            degree=leak.degree,
        )

    changes = {change.uid: change for change in reversed(read_rows(answer.given_away[: 4 * MAX_ROWS], read_leak))}
    return tuple(changes[intent.uid] for intent in task.intents if intent.uid in changes)
