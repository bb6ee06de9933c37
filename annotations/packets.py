"""Exactly what an auditor sees of one decision or of one session with all its questions.

``PacketContent`` is built from the question and its evidence alone: no parameter here could carry what the
judge decided, why, or what it quoted. Model names are redacted.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
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

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))
"""By kind: what is asked, and what an answer means."""
STATUSES = ("completed", "inferred", "provided")
CREDITED = frozenset({"completed", "inferred", "yes"})
"""Answers for which the agent gets credit."""
YES, NO, UNSURE = "yes", "no", "unsure"
NOT_SHOWN, BROKEN = "not_shown", "broken"
VOID = frozenset({NOT_SHOWN, BROKEN})
"""Answers that say nothing of the judge: the packet does not hold what the question takes, or what was to be judged is
spoilt."""
PROSE = frozenset({".md", ".txt", ".docx", ".pdf", ".eml", ".html", ".rtf", ".odt", ".pptx"})
DECISION = "decision"
"""Key of the only question of a packet of one decision."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EvidencePart(_Frozen):
    role: Role
    label: str
    """``turn 2``, a tool's name, a path."""
    text: str

    @property
    def is_prose(self) -> bool:
        """Whether it is a file that people read line by line, not column by column."""
        return self.role == "file" and PurePosixPath(self.label.partition(" · ")[0]).suffix.lower() in PROSE


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
    left_out: tuple[str, ...] = ()
    """What happened and is not shown, a sentence each. Where nothing is said, what is not shown did not happen."""
    guide: str = ""
    """What each answer means, and what judges of this protocol see."""
    truth: bool = False
    """As of the packet."""
    questions: tuple[Question, ...]
    """In order; of a decision, one with the key DECISION."""

    @property
    def shows_everything(self) -> bool:
        return not self.left_out

    def offered(self, answers: Iterable[str]) -> tuple[str, ...]:
        """Where everything is shown, absence means No."""
        return tuple(answer for answer in answers if answer != NOT_SHOWN or not self.shows_everything)


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


@dataclass(frozen=True)
class Material:
    """What is shown with a question."""

    parts: Sequence[EvidencePart]
    context: Sequence[str] = ()
    left_out: Sequence[str] = ()
    saw: str = ""
    """What judges of this protocol see, in a sentence."""


def build_content(
    kind: Kind,
    subject: str,
    shown: Material,
    *,
    redact: Callable[[str], str] = str,
    questions: Sequence[Question] = (),
    in_truth: str = "",
) -> PacketContent:
    """``questions``: of a session. ``in_truth``: what it was after, ``turn 2``, if it asks what is so in truth."""
    texts, which = QUESTIONS[kind], "_in_truth" if in_truth else ""
    asked = [Question(key=DECISION, kind=kind, subject=subject)] if kind != "session" else questions
    return PacketContent(
        kind=kind,
        question=texts[f"asked{which}"].format(turn=in_truth),
        subject=redact(subject),
        parts=tuple(
            EvidencePart(role=part.role, label=redact(part.label), text=redact(part.text)) for part in shown.parts
        ),
        context=tuple(map(redact, shown.context)),
        left_out=tuple(map(redact, shown.left_out)),
        guide=" ".join(filter(None, (texts[f"guide{which}"], shown.saw))),
        truth=bool(in_truth),
        questions=tuple(row.model_copy(update={"subject": redact(row.subject)}) for row in asked),
    )


def make_redactor(names: Iterable[str], own: str = "") -> Callable[[str], str]:
    """Hides names of models, unless they are ordinary words here: ``own`` is what people wrote."""
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
