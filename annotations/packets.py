"""Exactly what an auditor sees of one decision.

``Shown`` is built from the question and its evidence alone: no parameter here could carry what the
judge decided, why, or what it pointed to. Names of models are struck out of the evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

Kind = Literal["satisfaction", "follow_up", "checklist"]
Role = Literal["user", "assistant", "tool", "file"]

REDACTED = "▮▮▮"
MIN_NAME_LENGTH = 4
"""Shorter names (``o1``) are ordinary words too often to be struck out."""

QUESTIONS: dict[Kind, str] = {
    "satisfaction": "Does this reply, or a file shown with it, meet this intent?",
    "follow_up": "Does this reply ask for this, or propose a concrete step towards it?",
    "checklist": "Does the session satisfy this?",
}
GUIDES: dict[Kind, str] = {
    "satisfaction": (
        "Yes only if it is met explicitly and specifically. Partly met, hinted at or promised for later is No. "
        "The judge saw only this reply and these files."
    ),
    "follow_up": (
        "Yes only for a question or a concrete proposal aimed at exactly this. “Anything else?” is No. "
        "The judge saw only this reply, no files."
    ),
    "checklist": (
        "Yes only where the record shows it clearly; if you would have to guess, No. "
        "The judge saw the user's messages, the last reply, and the tool fields and files chosen for this task."
    ),
}


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidencePart(_Frozen):
    """One piece of evidence."""

    role: Role
    label: str
    """``turn 2``, a tool's name, a path."""
    text: str


class PacketContent(_Frozen):
    """The question and its evidence."""

    kind: Kind
    question: str
    subject: str
    """What the question is about: the need or the criterion, in its author's words."""
    parts: tuple[EvidencePart, ...]
    context: tuple[str, ...] = ()
    """What the judge was told besides, which is not evidence: the task's other hidden needs."""


class SealedDecision(_Frozen):
    """What the judge decided. Opened after the judgment."""

    decision: bool
    quote: str = ""
    reason: str = ""
    judge: str = ""


def build_content(
    kind: Kind, subject: str, parts: Sequence[EvidencePart], *, context: Sequence[str] = (), names: Iterable[str] = ()
) -> PacketContent:
    """What an auditor sees. ``names`` of models are struck out wherever they stand."""
    strike = make_redactor(names)
    return PacketContent(
        kind=kind,
        question=QUESTIONS[kind],
        subject=strike(subject),
        parts=tuple(EvidencePart(role=part.role, label=strike(part.label), text=strike(part.text)) for part in parts),
        context=tuple(map(strike, context)),
    )


def make_redactor(names: Iterable[str]) -> Callable[[str], str]:
    """A function that strikes names out of a text, in any case, where they stand as words."""
    known = sorted({name.strip() for name in names if len(name.strip()) >= MIN_NAME_LENGTH}, key=len, reverse=True)
    if not known:
        return str
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(REDACTED, text)


def find_passage(shown: PacketContent, passage: str) -> int | None:
    """The part in which a passage stands, runs of white space aside; None: in none."""
    wanted = collapse_whitespace(passage)
    if not wanted:
        return None
    return next((number for number, part in enumerate(shown.parts) if wanted in collapse_whitespace(part.text)), None)


def collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
