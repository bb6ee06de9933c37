"""The journal of a session's tool calls, written as they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from evaluation.protocol.participants import ToolRecord

Run = Callable[[str], ToolRecord]
"""Takes the call's idempotency key."""


class Journal(Protocol):
    def perform(self, name: str, arguments: str, run: Run, *, outside: bool, unsure: Run | None = None) -> ToolRecord:
        """Make the call and store what it gave.

        A turn that is taken up again makes its calls again, over the files and apps as they were before it. But if
        the effect is ``outside`` of these and the result is known, that is returned and nothing is done;
        if it was begun and the result is not known, ``unsure`` answers, where the effect must not be repeated.
        """
        ...

    def tell(self, text: str) -> None:
        """What the call under way has said so far, for people who look on."""
        ...


def told_to(journal: Journal | None) -> Callable[[str], None] | None:
    return None if journal is None else journal.tell


class NoJournal:
    """Where turns are never taken up again."""

    def tell(self, text: str) -> None:
        pass

    def perform(self, name: str, arguments: str, run: Run, *, outside: bool, unsure: Run | None = None) -> ToolRecord:
        return run("")
