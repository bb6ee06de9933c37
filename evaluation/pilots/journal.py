"""Tool calls of a session, stored as they are made, so that a turn taken up again does nothing twice outside."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from evaluation.leases.sessions import LeaseLostError, leased_row
from evaluation.models import MadeCall, Session
from evaluation.protocol.participants import InfrastructureError, ToolRecord
from studio.domain.storable import storable

Run = Callable[[str], ToolRecord]


@dataclass
class UnderWay:
    """A call that is being made."""

    turn: int
    key: str
    name: str
    stored: bool
    """Whether there is a row of it."""
    told: bool = False


class SessionJournal:
    """``turn`` says which turn it is now."""

    def __init__(self, session: Session, turn: Callable[[], int]) -> None:
        self._session = session
        self._turn = turn
        self._place = (0, 0)
        """Turn, and number of its last call."""
        self._under_way: list[UnderWay] = []
        """A helper's calls are made within the one that called the helper."""

    def perform(self, name: str, arguments: str, run: Run, *, outside: bool, unsure: Run | None = None) -> ToolRecord:
        """Raises LeaseLostError before an effect outside of the session."""
        turn = self._turn()
        self._place = (turn, self._place[1] + 1 if self._place[0] == turn else 1)
        key = call_key(self._session.pk, *self._place, name, arguments)
        row = self._earlier.get(key)
        if not outside:
            self._under_way.append(UnderWay(turn, key, name, stored=row is not None))
            try:
                record = replace(run(key), key=key)
            finally:
                call = self._under_way.pop()
            if not call.stored:
                self._store(turn, key, name, record=_to_json(record))
            elif call.told or row is None or row.record is None:
                self._update(key, record=_to_json(record), output="")
            return record
        if row is not None and row.record is not None:
            return _from_json(row.record)
        if not leased_row(self._session).exists():
            raise LeaseLostError
        if row is None:
            self._store(turn, key, name, outside=True)
        begun = row is not None
        try:
            record = replace(unsure(key) if begun and unsure else run(key), key=key)
        except InfrastructureError as error:
            if error.untouched and not begun:
                MadeCall.objects.filter(session=self._session, key=key).delete()
            raise
        self._update(key, record=_to_json(record))
        return record

    def tell(self, text: str) -> None:
        if not self._under_way:
            return
        call, text = self._under_way[-1], storable(text)
        if call.stored:
            self._update(call.key, output=text)
        else:
            self._store(call.turn, call.key, call.name, output=text)
        call.stored = call.told = True

    def _update(self, key: str, **fields: Any) -> None:
        MadeCall.objects.filter(session=self._session, key=key).update(**fields)

    @cached_property
    def _earlier(self) -> dict[str, MadeCall]:
        """What an earlier worker made of the turn that is taken up again."""
        if self._session.fresh:
            return {}
        return {row.key: row for row in MadeCall.objects.filter(session=self._session)}

    def _store(self, turn: int, key: str, name: str, **fields: Any) -> None:
        row = MadeCall(session=self._session, turn=turn, key=key, name=storable(name)[:200], **fields)
        MadeCall.objects.bulk_create([row], ignore_conflicts=True)


def call_key(session: int, turn: int, number: int, name: str, arguments: str) -> str:
    return hashlib.sha256(json.dumps([session, turn, number, name, arguments]).encode()).hexdigest()


def _to_json(record: ToolRecord) -> dict[str, Any]:
    written: dict[str, Any] = storable(asdict(record))
    return written


def _from_json(row: dict[str, Any]) -> ToolRecord:
    return ToolRecord(**row | {"changes": tuple(row["changes"]), "effects": tuple(row.get("effects", ()))})
