"""Exactly what an auditor sees of one decision or of one session with all its questions.

``PacketContent`` is built from the question and its evidence alone: no parameter here could carry what the
judge decided, why, or what it quoted. Model names are redacted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

Kind = Literal["satisfaction", "follow_up", "checklist", "session"]
QuestionKind = Literal["status", "checklist", "satisfaction", "follow_up"]
Role = Literal["user", "event", "assistant", "tool", "file"]

REDACTED = "▮▮▮"
MIN_NAME_LENGTH = 4
"""Shorter names (``o1``) are too often ordinary words."""
ROLES = frozenset({"agent", "assistant", "event", "file", "judge", "model", "system", "task", "tool", "user"})
"""Ordinary words in every record, whatever an endpoint is called."""

QUESTIONS: dict[Kind, str] = {
    "satisfaction": "Does this reply, or a file shown with it, meet this intent?",
    "follow_up": "Does this reply ask for this, or propose a concrete step towards it?",
    "checklist": "Does the session satisfy this?",
    "session": "What became of each intent, and which items are met?",
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
    "session": (
        "An intent is completed if a reply, or a file shown with it, met it before the user said it; inferred if the "
        "agent asked for it or proposed a concrete step towards it, and the user then said it; provided if the user "
        "had to say it unasked. A checklist item is met only where the record shows it clearly."
    ),
}
STATUSES = ("completed", "inferred", "provided")
CREDITED = frozenset({"completed", "inferred", "yes"})
"""Answers for which the agent gets credit."""
YES, NO, UNSURE = "yes", "no", "unsure"
NOT_SHOWN, BROKEN = "not_shown", "broken"
VOID = frozenset({NOT_SHOWN, BROKEN})
"""Answers that say nothing of the judge: the packet does not hold what the question takes, or what was to be judged is
spoilt."""
DECISION = "decision"
"""Key of the only question of a packet of one decision."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidencePart(_Frozen):
    role: Role
    label: str
    """``turn 2``, a tool's name, a path."""
    text: str


class Question(_Frozen):
    """A decision; of a session, the terminal status of an intent, or whether a checklist item is met."""

    key: str
    """Unique in its packet."""
    kind: QuestionKind
    subject: str
    """The intent or criterion, as its author wrote it."""

    @property
    def decisive(self) -> tuple[str, ...]:
        return STATUSES if self.kind == "status" else (YES, NO)

    @property
    def final(self) -> tuple[str, ...]:
        """What an adjudicator may answer."""
        return (*self.decisive, NOT_SHOWN, BROKEN)

    @property
    def choices(self) -> tuple[str, ...]:
        return (*self.final, UNSURE)


class PacketContent(_Frozen):
    kind: Kind
    question: str
    subject: str
    """The intent or criterion in question, as its author wrote it; of a session, its task."""
    parts: tuple[EvidencePart, ...]
    context: tuple[str, ...] = ()
    """What the judge was given besides the evidence: the task's other hidden intents."""
    questions: tuple[Question, ...]
    """In order; of a decision, one with the key DECISION."""


class Sealed(_Frozen):
    """What the judge decided, by key of the question."""

    answers: dict[str, str] = {}
    """Stored as rows, not in the packet."""
    reasons: dict[str, str] = {}
    quotes: dict[str, str] = {}
    thoughts: dict[str, str] = {}
    """For adjudicators alone, once everybody has judged."""
    shares: dict[str, float] = {}
    """What a question's credit adds to the session's Proc (statuses) or Comp (items)."""
    judge: str = ""


def build_content(
    kind: Kind,
    subject: str,
    parts: Sequence[EvidencePart],
    *,
    context: Sequence[str] = (),
    names: Iterable[str] = (),
    own: str = "",
    questions: Sequence[Question] = (),
) -> PacketContent:
    """``questions``: of a session. ``names`` of models are hidden, unless ``own``, what people wrote, uses the word."""
    redact = make_redactor(names, own)
    asked = [Question(key=DECISION, kind=kind, subject=subject)] if kind != "session" else questions
    return PacketContent(
        kind=kind,
        question=QUESTIONS[kind],
        subject=redact(subject),
        parts=tuple(EvidencePart(role=part.role, label=redact(part.label), text=redact(part.text)) for part in parts),
        context=tuple(map(redact, context)),
        questions=tuple(row.model_copy(update={"subject": redact(row.subject)}) for row in asked),
    )


def make_redactor(names: Iterable[str], own: str = "") -> Callable[[str], str]:
    wanted = {name.strip() for name in names if len(name.strip()) >= MIN_NAME_LENGTH}
    known = sorted((name for name in wanted if not _is_ordinary(name, own)), key=len, reverse=True)
    if not known:
        return str
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, known))})(?!\w)", re.IGNORECASE)
    return lambda text: pattern.sub(REDACTED, text)


def _is_ordinary(name: str, own: str) -> bool:
    if not name.isalpha():
        return False
    return name.casefold() in ROLES or bool(re.search(rf"(?<!\w){name}(?!\w)", own, re.IGNORECASE))


def find_passage(content: PacketContent, passage: str) -> int | None:
    """The index of the part that contains the passage, runs of white space aside; None if none does."""
    wanted = collapse_whitespace(passage)
    if not wanted:
        return None
    return next((index for index, part in enumerate(content.parts) if wanted in collapse_whitespace(part.text)), None)


def collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
