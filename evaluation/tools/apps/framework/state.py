"""The state of one app: its tables, changed in transactions, as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, Self

from pydantic_core import from_json

from evaluation.tools.apps.framework.errors import AppDataError
from evaluation.tools.apps.framework.index import Key, Record
from evaluation.tools.apps.framework.records import as_dict
from evaluation.tools.apps.framework.rows import RecordsSpan
from evaluation.tools.apps.framework.tables import Table

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


class Change(NamedTuple):
    """One record of an app: added if ``before`` is None, deleted if ``after`` is."""

    app: str
    table: str
    key: Key
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class AppState:
    """Subclasses add their tables in ``__init__``."""

    app = ""

    def __init__(self) -> None:
        self.tables: dict[str, Table[Any]] = {}
        self._touched: list[Table[Any]] = []
        self._json: bytes | None = None
        self.accounts = self.table("accounts", Account, "account")
        self.tokens = self.table("tokens", Token, "access token", {"username": "accounts"})

    def table(
        self, name: str, record_type: type[Record], noun: str, refers: Mapping[str, str] | None = None
    ) -> Table[Record]:
        table: Table[Record] = Table(name, record_type, noun, refers or {}, lambda: self._touched.append(table))
        self.tables[name] = table
        return table

    def load(self, data: Mapping[str, Any]) -> None:
        """Raises AppDataError."""
        last = data.get(LAST, {})
        if not isinstance(last, Mapping) or not all(isinstance(number, int) for number in last.values()):
            raise AppDataError(f"{self.app}, {LAST}: this must be an object with a whole number for each table.")
        for name in data:
            if name not in self.tables and name != LAST:
                known = ", ".join(table for table in self.tables if table != "tokens")
                raise AppDataError(f"{self.app}: there is no table “{name}”. There are {known}.")
        for name, table in self.tables.items():
            rows = data.get(name, [])
            if not isinstance(rows, list):
                raise AppDataError(f"{self.app}, {name}: this must be a list of records.")
            table.load(rows, last.get(name, 0), self.app)
        self._touched.clear()
        self._json = None

    def load_written(self, content: bytes) -> bool:
        """Whether ``content`` is JSON as ``to_json`` writes it, and so was taken over: its records are cut apart here,
        and parsed when they are asked for."""
        end = content.rfind(b',"%s":{' % LAST.encode())
        if end < 0 or not content.startswith(b'{"'):
            return False
        sections: dict[str, RecordsSpan] = {}
        start = 1
        for border in chain(self._borders.finditer(content, 0, end), (None,)):
            name = content[start + 1 : content.find(b'"', start + 1)].decode(errors="replace")
            if name not in self.tables or not content.startswith(self.tables[name].opening, start):
                return False
            if border and not content.startswith(self.tables[border[1].decode()].opening, border.start() + 3):
                continue
            closed = end if border is None else border.start() + 2
            sections[name] = RecordsSpan(content, start + len(name) + 3, closed)
            start = closed + 1
        try:
            last = from_json(content[end + len(LAST) + 4 : -1])
        except ValueError:
            return False
        if not isinstance(last, dict) or not all(isinstance(number, int) for number in last.values()):
            return False
        for name, table in self.tables.items():
            table.load_section(sections.get(name), last.get(name, 0))
        self._touched.clear()
        self._json = content
        return True

    @cached_property
    def _borders(self) -> re.Pattern[bytes]:
        """What may be the end of a table and the beginning of the next."""
        return re.compile(rb'\}\],"(%s)":\[\{"' % "|".join(self.tables).encode())

    def to_json(self) -> bytes:
        """The same bytes for the same state; nothing is written anew where nothing changed."""
        if self._json is None:
            last = {name: table.last for name, table in self.tables.items() if table.last}
            parts = [
                b'"%s":%s' % (name.encode(), table.to_json())
                for name, table in self.tables.items()
                if not table.is_empty
            ]
            parts.append(b'"%s":%s' % (LAST.encode(), json.dumps(last).encode()))
            self._json = b"{" + b",".join(parts) + b"}"
        return self._json

    def copy(self) -> Self:
        """Another state with the same records; it costs the same for any number of them."""
        other = type(self)()
        for name, table in self.tables.items():
            other.tables[name].share(table)
        other._json = self._json
        return other

    @contextmanager
    def transaction(self) -> Iterator[list[Change]]:
        """All or nothing. The list holds the changes once the block has ended."""
        changes: list[Change] = []
        try:
            yield changes
        except BaseException:
            for table in self._touched:
                table.roll_back()
            self._touched.clear()
            raise
        if self._touched:
            self._json = None
        for table in self._touched:
            changes += (
                Change(
                    self.app,
                    table.name,
                    key,
                    as_dict(before) if before is not None else None,
                    as_dict(after) if after is not None else None,
                )
                for key, before, after in table.commit()
            )
        self._touched.clear()

    def complete_with(self, complete: Callable[[Any], None]) -> None:
        """Add what a persona's data left out; nobody needs to be told."""
        complete(self)
        for table in self._touched:
            table.forget()
            table.consolidate()
        self._touched.clear()
        self._json = None

    def problems(self) -> Iterator[str]:
        """What is inconsistent. Subclasses add the rules of their app."""
        for table in self.tables.values():
            yield from table.dangling(self.tables)
