"""Hidden intents that the request gives away."""

from __future__ import annotations

from typing import Literal

from evaluation.assistance.answers.base import MAX_ROWS, AnswerModel, note, require_intent
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange
from evaluation.protocol.answers import occurs


class Leak(AnswerModel):
    intent: int
    degree: Literal["wholly", "partly"]
    quote: str = ""
    why: str = ""


class Leaks(AnswerModel):
    given_away: list[Leak]


def read(answer: Leaks, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
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
                why=note(leak.why),
                quote=note(leak.quote),
                degree=leak.degree,
            ),
        )
    return tuple(changes[number] for number in sorted(changes))
