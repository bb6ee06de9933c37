"""Findings of the authoring checks."""

from __future__ import annotations

import hashlib
import re
from typing import Literal

from pydantic import Field

from studio.domain.base import Spec
from studio.domain.task import ExactCheck

Severity = Literal["error", "warning", "hint"]
_PARAMETERS = re.compile(r"“[^”]*”|\d+(?:[.,:]\d+)*")
"""What a message says of this task alone: its words, in quotation marks, and numbers."""


class Finding(Spec):
    """One defect of a task."""

    rule: str
    """Stable name, e.g. ``dependency-order``."""
    severity: Severity
    message: str
    """What is wrong, as a sentence."""
    fix: str
    """What to do about it, as a sentence."""
    persona: str = ""
    task: str = ""
    field: str = ""
    """Field of the TaskSpec: ``initial_request``, ``intents``, ``checklist``, ``depends_on``, …"""
    item: int | None = None
    """1-based position inside the field, where it is a list."""
    passage: str = ""
    """The passage it is about, verbatim from the field; empty: the field as a whole."""
    other: str = ""
    """Id of another task involved."""
    proposal: ExactCheck | None = None
    """An exact check that could replace the item's criterion; None if there is none, or if a person has to choose a
    file or tool first."""

    data: str = Field(default="", exclude=True, repr=False)
    """What the one-click fix puts there: a path or a spelling."""
    field_text: str = Field(default="", exclude=True, repr=False)
    """For a finding without ``passage``: the whole text of the field or row."""
    row: str = Field(default="", exclude=True, repr=False)
    """The uid of the row it is about."""
    about: str = Field(default="", exclude=True, repr=False)
    """As ``Flaw.about``."""
    stable_message: str = Field(default="", exclude=True, repr=False)
    """The message with the other task's id instead of its title and number, which may change."""

    @property
    def fingerprint(self) -> str:
        """Identifies the same defect in the same text, also after rows move or the rule's message is reworded. Waivers
        are tied to it."""
        said = sorted(_PARAMETERS.findall(self.stable_message or self.message))
        parameters = [self.about] if self.about else said
        parts = [self.rule, self.persona, self.task, self.field, self.row, self.passage, self.other]
        parts += [self.field_text, *parameters]
        return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
