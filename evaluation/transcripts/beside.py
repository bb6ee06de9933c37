"""Two sessions of one task side by side: of two models, two runs, or before and after an edit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from evaluation.models import Session
from evaluation.transcripts.outcomes import IntentOutcome, ItemOutcome
from evaluation.transcripts.session import SessionTranscript, TurnView


@dataclass(frozen=True)
class Sides:
    """One of them is None where one session has more turns, intents or items than the other."""

    turns: Sequence[tuple[TurnView | None, TurnView | None]]
    intents: Sequence[tuple[IntentOutcome | None, IntentOutcome | None]]
    items: Sequence[tuple[ItemOutcome | None, ItemOutcome | None]]
    edited: bool
    """Whether the task was edited between the two."""


def side_by_side(first: tuple[Session, SessionTranscript], second: tuple[Session, SessionTranscript]) -> Sides:
    (session, left), (other, right) = first, second
    return Sides(
        list(zip_longest(left.turns, right.turns)),
        list(zip_longest(left.intents, right.intents)),
        list(zip_longest(left.items, right.items)),
        session.revision.sha256 != other.revision.sha256,
    )
