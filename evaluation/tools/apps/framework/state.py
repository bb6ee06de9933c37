"""The state of one app: its tables, changed in transactions, as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluation.tools.apps.framework.errors import AppDataError
from evaluation.tools.apps.framework.tables import Kept, Key, Table, as_dict

NEVER = "~"
"""Later than every stamp."""
HIDDEN = ("tokens", "codes")
"""Tables that a person does not write."""
LAST = "last_numbers"
"""The key of a state's JSON that holds the highest number given in each table."""


@dataclass(frozen=True)
class Account:
    """A user of the app. Without a password, nobody can log in: it is another person."""

    username: str
    """The email address; in the phone, the phone number."""
    password: str = ""
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone_number: str = ""
    registered_at: str = ""

    @property
    def name(self) -> str:
        return f"{self.first_name} {self.last_name}".strip() or self.username


@dataclass(frozen=True)
class Token:
    access_token: str
    username: str
    expires_at: str


@dataclass(frozen=True)
class Code:
    """Sent to somebody who has forgotten the password, or to see that an address is theirs."""

    code: str
    username: str
    purpose: str
    expires_at: str


class Change(NamedTuple):
    """One record of an app: added if ``before`` is None, deleted if ``after`` is."""

    app: str
    table: str
    key: Key
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class AppState:
    """Subclasses declare their tables."""

    app = ""
    accounts = Table(Account, "account", "username password first_name last_name")
    tokens = Table(Token, "access token", refers={"username": "accounts"})
    codes = Table(Code, "code", refers={"username": "accounts"})

    def __init__(self) -> None:
        self._kept: Kept = {}
        """By tables that the transaction under way has changed."""
        self._next = ""
        """When the next record comes to exist."""
        self.tables: dict[str, Table[Any]] = {
            name: declared.empty(self._kept)
            for part in reversed(type(self).__mro__)
            for name, declared in vars(part).items()
            if isinstance(declared, Table)
        }
        vars(self).update(self.tables)

    def load(self, data: Mapping[str, Any]) -> None:
        """Raises AppDataError."""
        last = data.get(LAST, {})
        if not isinstance(last, Mapping) or not all(isinstance(number, int) for number in last.values()):
            raise AppDataError(f"{self.app}, {LAST}: this must be an object with a whole number for each table.")
        for name in data:
            if name not in self.tables and name != LAST:
                known = ", ".join(table for table in self.tables if table not in HIDDEN)
                raise AppDataError(f"{self.app}: there is no table “{name}”. There are {known}.")
        for name, table in self.tables.items():
            rows = data.get(name, [])
            if not isinstance(rows, list):
                raise AppDataError(f"{self.app}, {name}: this must be a list of records.")
            table.load(rows, last.get(name, 0), self.app)
        if LAST not in data:  # what a person wrote, not what a session left
            self.complete()
            self._kept.clear()

    def complete(self) -> None:
        """Add what a persona's data may leave out. Subclasses do."""

    def receive(self, sender: str, receiver: str, subject: str, text: str, stamp: str) -> None:
        """A message of another app. What tells people something keeps it."""

    def to_json(self) -> bytes:
        """The same bytes for the same state."""
        used = {name: table for name, table in self.tables.items() if len(table) or table.later}
        parts = [b'"%s":%s' % (name.encode(), table.to_json()) for name, table in used.items()]
        last = {name: table.last for name, table in self.tables.items() if table.last}
        return b"{%s}" % b",".join([*parts, b'"%s":%s' % (LAST.encode(), json.dumps(last).encode())])

    def pass_to(self, stamp: str) -> None:
        """What is dated later does not exist yet, nor what belongs to it; it is stored with the rest."""
        if stamp < self._next:
            return
        for table in self.tables.values():
            table.records, table.later = table.records | table.later, {}
        stamps = {
            (table.name, key): str(getattr(record, table.dated))[: len(stamp)]
            for table in self.tables.values()
            if table.dated
            for key, record in table.records.items()
        }
        later = {place for place, since in stamps.items() if since > stamp}
        self._next = min((stamps[place] for place in later), default=NEVER)
        while later:
            for name, key in later:
                self.tables[name].later[key] = self.tables[name].records.pop(key)
            later = {
                (table.name, key)
                for table in self.tables.values()
                for key, record in table.records.items()
                if any(getattr(record, field) in self.tables[target].later for field, target in table.refers.items())
            }

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """All or nothing. The list holds the changes once the block has ended."""
        changes: list[Change] = []
        try:
            yield changes
            for name, (before, _) in self._kept.items():
                changes += changed_records(self.app, name, before, self.tables[name].records)
        except BaseException:
            for name, (records, last) in self._kept.items():
                self.tables[name].records, self.tables[name].last = records, last
            raise
        finally:
            self._kept.clear()

    @property
    def shown(self) -> dict[str, Table[Any]]:
        """The tables that people need to see; accounts at the end."""
        others = {name: table for name, table in self.tables.items() if table.columns and table is not self.accounts}
        return {**others, "accounts": self.accounts}

    def problems(self) -> Iterator[str]:
        """What is inconsistent. Subclasses add the rules of their app."""
        for table in self.tables.values():
            yield from table.dangling(self.tables)


def changed_records(app: str, table: str, before: Mapping[Key, Any], after: Mapping[Key, Any]) -> list[Change]:
    """In the order of their keys."""
    keys = [key for key in {**before, **after} if before.get(key) is not after.get(key)]
    keys.sort(key=lambda key: (isinstance(key, str), key))
    return [
        Change(app, table, key, old and as_dict(old), new and as_dict(new))
        for key, old, new in ((key, before.get(key), after.get(key)) for key in keys)
        if old != new
    ]
