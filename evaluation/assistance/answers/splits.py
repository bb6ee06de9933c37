"""A bundled intent or criterion split into parts."""

from __future__ import annotations

from evaluation.assistance.answers.base import (
    MAX_ROW_TEXT,
    MAX_ROWS,
    AnswerModel,
    clean_note,
    clean_within,
    lost_numbers,
)
from evaluation.assistance.kinds import ProposalRequest
from evaluation.assistance.material import Material
from evaluation.assistance.proposals import ProposedChange, text_of
from evaluation.protocol.answers import UnusableAnswerError


class Split(AnswerModel):
    parts: list[str]
    why: str = ""


def read(answer: Split, request: ProposalRequest, material: Material) -> tuple[ProposedChange, ...]:
    texts = list(dict.fromkeys(filter(None, (clean_within(part, MAX_ROW_TEXT) for part in answer.parts))))
    if not 2 <= len(texts) <= MAX_ROWS:
        raise UnusableAnswerError(f"A split has from 2 to {MAX_ROWS} different parts, not {len(texts)}.")
    whole = text_of(material.task, request.field, request.uid) or ""
    notes = lost_numbers(whole, " ".join(texts))
    return tuple(
        ProposedChange(
            field=request.field,
            uid=request.uid,
            text=text,
            why="" if position else clean_note(answer.why),
            notes=() if position else notes,
        )
        for position, text in enumerate(texts)
    )
