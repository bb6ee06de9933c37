"""Tool calls of a session, kept as they are made, so that a turn taken up again does nothing twice outside."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from evaluation.protocol.clock import Clock
from evaluation.protocol.participants import InfrastructureError, ToolRecord
from evaluation.tools.journal import Run


@dataclass(frozen=True)
class MadeCall:
    """A tool call as it is made."""

    turn: int
    key: str
    """Idempotency key: of session, turn, place in the turn, tool and arguments."""
    name: str
    outside: bool = False
    """Whether its effect is outside of the session's files and apps."""
    record: ToolRecord | None = None
    """What it gave; None while it is under way, or if the worker died meanwhile."""
    output: str = ""
    """What it has said so far, while it is under way."""


class MadeCalls(Protocol):
    """Calls of turns that are not stored yet, and all that had an effect outside."""

    def all(self) -> Iterable[MadeCall]: ...

    def put(self, call: MadeCall) -> None:
        """In place of the one with its key. Raises if the session is somebody else's and the call is about to have an
        effect outside."""
        ...

    def drop(self, key: str) -> None: ...


class SessionJournal:
    """``evaluation.tools.journal.Journal``"""

    def __init__(self, session: str, made: MadeCalls, turn: int, clock: Clock) -> None:
        """``turn``: the last one that was stored. ``clock`` moves with each turn and call."""
        self._session = session
        self._made = made
        self._earlier = {call.key: call for call in made.all()}
        """What was made of the turn that is taken up again."""
        self._clock = clock
        self._turn = turn
        self._number = 0
        """Of the turn's last call."""
        self._under_way: list[MadeCall] = []
        """A helper's calls are made within the one that called the helper."""

    def begin(self, turn: int) -> None:
        self._turn, self._number = turn, 0
        self._clock.begin(turn)

    def perform(self, name: str, arguments: str, run: Run, *, outside: bool, unsure: Run | None = None) -> ToolRecord:
        self._number += 1
        self._clock.step()
        key = call_key(self._session, self._turn, self._number, name, arguments)
        call, earlier = MadeCall(self._turn, key, name, outside), self._earlier.get(key)
        if not outside:
            self._under_way.append(call)
            try:
                record = replace(run(key), key=key)
            finally:
                told = self._under_way.pop().output
            if told or earlier is None or earlier.record is None:
                self._made.put(replace(call, record=record))
            return record
        if earlier is not None and earlier.record is not None:
            return earlier.record
        self._made.put(call)
        try:
            record = replace(unsure(key) if earlier and unsure else run(key), key=key)
        except InfrastructureError as error:
            if error.untouched and not earlier:
                self._made.drop(key)
            raise
        self._made.put(replace(call, record=record))
        return record

    def tell(self, text: str) -> None:
        if self._under_way:
            self._under_way[-1] = replace(self._under_way[-1], output=text)
            self._made.put(self._under_way[-1])


def call_key(session: str, turn: int, number: int, name: str, arguments: str) -> str:
    return hashlib.sha256(json.dumps([session, turn, number, name, arguments]).encode()).hexdigest()
