"""A decision on a session: what grading makes, and stores keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evaluation.protocol.participants import Decision

Place = tuple[str, int, int]
"""Kind (satisfaction, follow_up or checklist), turn and index: what a decision is about, in one judging."""
Grader = Literal["judge", "rubric", "rule", "person"]
Known = Mapping[Place, bool | None]
"""What is decided already."""


@dataclass(frozen=True)
class Decided:
    """With its evidence, by a judge, a rule or a grader script."""

    kind: str
    turn: int
    index: int
    """1-based position of the intent, or of the item among all graded items."""
    grader: Grader
    met: bool | None
    """None: ungraded; ``error`` says why."""
    uid: str = ""
    """Of the intent or item; a key of a grader script and a question of an audit have none."""
    label: str = ""
    """What it is about, where ``uid`` does not say it."""
    quote: str = ""
    reason: str = ""
    supported: bool = False
    """Whether the quote occurs in what the judge saw."""
    style: str = ""
    error: str = ""
    call: str = ""
    """Hash of the request that a model answered with it."""

    @property
    def place(self) -> Place:
        return self.kind, self.turn, self.index


def judged(place: Place, decision: Decision, call: str, *, uid: str = "", label: str = "") -> Decided:
    """As a model decided it."""
    kind, turn, index = place
    return Decided(
        kind,
        turn,
        index,
        "rubric" if kind == "checklist" else "judge",
        decision.yes,
        uid,
        label,
        decision.quote,
        decision.reason,
        decision.supported,
        decision.style or "",
        call=call,
    )
