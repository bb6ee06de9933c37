"""Hidden intents that the request gives away."""

from __future__ import annotations

from typing import Literal

from evaluation.assistance.answers.base import MAX_ROWS, AnswerModel, clean_note, require_intent
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import occurs


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
    changes: dict[int, ProposedChange] = {}
    for leak in answer.given_away[: 4 * MAX_ROWS]:
        require_intent(leak.intent, material)
        if not occurs(leak.quote, task.initial_request):
            continue
        intent = task.intents[leak.intent - 1]
        changes.setdefault(
            leak.intent,
            ProposedChange(
                field="intents",
                uid=intent.uid,
                text=intent.content,
                why=clean_note(leak.why),
                quote=clean_note(leak.quote),
                degree=leak.degree,
            ),
        )
    return tuple(changes[number] for number in sorted(changes))
