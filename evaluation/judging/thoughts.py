"""What judges thought: for adjudicators, once everybody has judged."""

from __future__ import annotations

from collections.abc import Collection

from evaluation.llm.completion import read_answer
from evaluation.models import ModelCall
from evaluation.models.calls import read_chain

MAX_THOUGHTS = 20_000
"""Characters of one answer."""


def thoughts_by_call(session_id: int, keys: Collection[int | None]) -> dict[int, str]:
    """Of those calls of a session that had some."""
    found = {}
    for call, exchange, _ in read_chain(ModelCall.objects.filter(session=session_id)) if any(keys) else ():
        if call.pk in keys and exchange.response and (thoughts := read_answer(exchange.response).thoughts):
            found[call.pk] = thoughts[:MAX_THOUGHTS]
    return found
