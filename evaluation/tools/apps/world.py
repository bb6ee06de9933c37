"""The simulated apps of one episode: seeded from data, called by name, carried from session to session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from evaluation.protocol.clock import Clock
from evaluation.tools.apps.catalog import APPS, api_of
from evaluation.tools.apps.framework.app import STAMP, Api, error_response
from evaluation.tools.apps.framework.errors import AppDataError, AppError, NotFoundError
from evaluation.tools.apps.framework.paging import Page
from evaluation.tools.apps.framework.state import AppState, Change, changed_records
from evaluation.tools.tool import Arguments

Snapshot = Mapping[str, bytes]
"""App → its state as JSON, for the apps that have any."""


@dataclass(frozen=True)
class CallResult:
    response: Any
    ok: bool = True
    changes: tuple[Change, ...] = ()
    next_page: int | None = None

    def document(self) -> dict[str, Any]:
        """As the agent reads it, and graders after it (``response.note_id``)."""
        more = {} if self.next_page is None else {"next_page_index": self.next_page}
        return {"response": self.response, **more}

    def to_json(self) -> str:
        return json.dumps(self.document(), ensure_ascii=False)


class World:
    """Not thread-safe: a session has its own."""

    def __init__(
        self, snapshot: Snapshot | None = None, clock: Clock | None = None, *, brief_lists: bool = False
    ) -> None:
        """``brief_lists``: lists leave out what is empty, and show of mail who wrote what."""
        self._brief_lists = brief_lists
        self.clock = clock or Clock()
        self._states: dict[str, AppState] = {}
        self._loaded: dict[str, bytes] = {}
        self._changed: set[str] = set()
        self.restore(snapshot or {})

    @classmethod
    def from_data(cls, data: Mapping[str, Mapping[str, Any]], clock: Clock | None = None) -> World:
        """``data``: app → table → records. Raises AppDataError."""
        return cls({name: json.dumps(tables, ensure_ascii=False).encode() for name, tables in data.items()}, clock)

    def restore(self, snapshot: Snapshot) -> None:
        """Raises AppDataError for an app there is not; an app's data is read when it is first used."""
        for name in snapshot:
            if name not in APPS:
                raise AppDataError(f"There is no app “{name}”. There are {', '.join(APPS)}.")
        self._states = {}
        self._changed = set()
        self._loaded = dict(snapshot)

    def snapshot(self) -> dict[str, bytes]:
        """An app that nothing has changed costs nothing."""
        self._loaded |= {app: self._states[app].to_json() for app in sorted(self._changed)}
        self._changed = set()
        return dict(self._loaded)

    def state(self, app: str) -> AppState:
        """Raises AppDataError."""
        if app not in self._states:
            self._states[app] = load_state(app, self._loaded.get(app, b"{}"))
        if self.clock.moves:
            self._states[app].pass_to(self.clock.now.strftime(STAMP))
        return self._states[app]

    def call(self, name: str, arguments: Mapping[str, Any]) -> CallResult:
        """An impossible call is answered as the service would; it changes nothing."""
        api = api_of(name)
        if api is None:
            return CallResult(error_response(NotFoundError(f"There is no API {name[:100]!r}.")), ok=False)
        try:
            return self.run(api, api.parse(arguments))
        except AppError as error:
            return CallResult(error_response(error), ok=False)

    def run(self, api: Api[Any], arguments: Arguments) -> CallResult:
        try:
            response, changes = api.run(self.state, self.clock.now, arguments)
        except AppError as error:
            return CallResult(error_response(error), ok=False)
        self._changed |= {change.app for change in changes}
        seen = tuple(change for change in changes if change.table in APPS[change.app].shown)
        if isinstance(response, Page):
            items = list(response.items)
            if self._brief_lists:
                state = self.state(api.name.partition("__")[0])
                items = [api.brief(state, item) if isinstance(item, dict) else item for item in items]
            return CallResult(items, True, seen, response.next_index)
        return CallResult(response, True, seen)

    def problems(self) -> Iterator[str]:
        """What is inconsistent in the data of any app. Raises AppDataError where it cannot be read."""
        for name in {**self._loaded, **self._states}:
            yield from (f"{name}: {problem}" for problem in self.state(name).problems())


def load_state(app: str, content: bytes) -> AppState:
    """Raises AppDataError."""
    try:
        data = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise AppDataError(f"{app}: this is not JSON ({error}).") from None
    if not isinstance(data, dict):
        raise AppDataError(f"{app}: this must be a JSON object with a list of records for each table.")
    state: AppState = APPS[app].new_state(data)
    return state


def differences(before: Snapshot, after: Snapshot) -> list[Change]:
    """What became of the records that people see."""
    changes: list[Change] = []
    for app in (name for name in APPS if before.get(name) != after.get(name)):
        old, new = load_state(app, before.get(app) or b"{}"), load_state(app, after.get(app) or b"{}")
        for name, table in new.shown.items():
            changes += changed_records(app, name, old.tables[name].records, table.records)
    return changes


def describe(change: Change) -> str:
    """In one line: Simple Note: new note “Shopping”."""
    app = APPS[change.app]
    table = app.shown[change.table]
    record = change.after or change.before or {}
    name = next((str(record[column]) for column in table.columns if record.get(column) not in (None, "", [])), "")
    named = f"{app.title}: {table.noun} “{_short(name)}”" if name else f"{app.title}: {table.noun} {change.key}"
    if change.before is None:
        return f"{named} added"
    if change.after is None:
        return f"{named} deleted"
    fields = [field for field, value in change.after.items() if change.before.get(field) != value]
    parts = [
        f"{_spoken(field)} from {_short(_value(change.before.get(field)))} to {_short(_value(change.after[field]))}"
        for field in fields
        if not field.endswith("_at")
    ]
    return f"{named}: {'; '.join(parts)}" if parts else f"{named} changed"


def _spoken(field: str) -> str:
    return field.removesuffix("_id").replace("_", " ")


def _value(value: Any) -> str:
    if value is None or value == "" or value == [] or value == ():
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_value, value))
    return str(value)


def _short(text: str, limit: int = 80) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
