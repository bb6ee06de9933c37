"""What a check says of a task."""

from __future__ import annotations

import hashlib
from typing import Literal

from pydantic import Field

from studio.domain.base import Spec
from studio.domain.task import ExactCheck

Severity = Literal["error", "warning", "hint"]


class Finding(Spec):
    """One defect, at one place, in the author's words."""

    rule: str
    """Stable name, e.g. ``dependency-order``."""
    severity: Severity
    message: str
    """What is wrong, as a sentence."""
    mend: str
    """What to do about it, as a sentence."""
    persona: str = ""
    task: str = ""
    field: str = ""
    """Field of the TaskSpec: ``initial_request``, ``intents``, ``checklist``, ``depends_on``, …"""
    item: int | None = None
    """1-based position inside the field, where it is a list."""
    words: str = ""
    """The words it is about, verbatim from the field; empty: the field as a whole."""
    other: str = ""
    """Another task that is concerned."""
    proposal: ExactCheck | None = None
    """The exact check that could stand in the item's place, ready to be taken over; None: there is none, or a person
    has to choose first (which file, which tool)."""

    text: str = Field(default="", exclude=True, repr=False)
    """Of a finding without words: what stands in its place as a whole."""
    said: str = Field(default="", exclude=True, repr=False)
    """The message with the other task's id where its title and number are read: those may change."""

    @property
    def fingerprint(self) -> str:
        """Same defect in the same words, same fingerprint, also after rows move: what a waiver is tied to."""
        parts = [self.rule, self.persona, self.task, self.field, self.words, self.other, self.said or self.message]
        if self.text:
            parts.append(self.text)
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
