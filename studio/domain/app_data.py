"""What a persona's simulated apps hold when an episode begins: ``apps/<app>.json`` among its files.

Apps are registered by the evaluation package, which this one must not import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from studio.domain.app_tables.declared import DeclaredTable, RecordFlaw

FOLDER = "apps"
CLOCK = "clock"
"""``apps/clock.json`` says when the episode takes place."""
SignsInBy = Literal["email", "phone_number"]
"""What of a person is the username of their account."""
CLOCK_EXAMPLE = '{"now": "2026-04-13T09:00", "tasks": {}}'


class ClockError(ValueError):
    """The message is for the author."""


@dataclass(frozen=True)
class AppTable:
    name: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """The first ones, as text."""
    count: int


@dataclass(frozen=True)
class RecordKind:
    """One table of an app, as rules name it."""

    table: str
    noun: str
    fields: tuple[str, ...]
    columns: tuple[str, ...] = ()
    """Those that people see; the first that is not empty names a record."""


@dataclass(frozen=True)
class AppCard:
    """An app with its data, as people read it."""

    name: str
    title: str
    about: str
    tables: tuple[AppTable, ...] = ()
    error: str = ""
    """Why the data cannot be used; then there are no tables."""
    problems: tuple[str, ...] = ()
    """What is inconsistent in it."""
    example: str = ""
    """Data to start from."""
    kinds: tuple[RecordKind, ...] = ()


@dataclass(frozen=True)
class AppDeclaration:
    """What the evaluation package knows of an app."""

    title: str
    signs_in_by: SignsInBy
    read: Callable[[bytes | None], AppCard]
    tables: Callable[[], tuple[DeclaredTable, ...]]
    """Those that people edit, the ones they see first; made when first asked for."""
    check: Callable[[Mapping[str, Any]], list[RecordFlaw]]
    """Flaws of records in the app's data, all of them, by row and column."""


_apps: dict[str, AppDeclaration] = {}


def register_apps(apps: Mapping[str, AppDeclaration]) -> None:
    _apps.update(apps)


def declared_apps() -> Mapping[str, AppDeclaration]:
    """Every app but the clock."""
    return _apps


def app_names() -> tuple[str, ...]:
    return (*_apps, CLOCK)


def read_app(app: str, content: bytes | None) -> AppCard:
    """Raises KeyError for an app there is not."""
    return _read_clock_card(content) if app == CLOCK else _apps[app].read(content)


def record_kinds() -> dict[str, AppCard]:
    """Every app but the clock; ``kinds`` are those of its records."""
    return {name: app.read(None) for name, app in _apps.items()}


def declared_tables(app: str) -> tuple[DeclaredTable, ...]:
    """None of an app there is not, and of the clock."""
    return _apps[app].tables() if app in _apps else ()


def check_records(app: str, data: Mapping[str, Any]) -> list[RecordFlaw]:
    """Raises KeyError for an app there is not."""
    return _apps[app].check(data)


def path_of(app: str) -> str:
    return f"{FOLDER}/{app}.json"


def read_clock(content: bytes, task_id: str = "") -> datetime | None:
    """When a task takes place. Raises ClockError."""
    try:
        data = json.loads(content)
        stamps = {"": data.get("now"), **data.get("tasks", {})}
        times = {name: datetime.fromisoformat(stamp).replace(tzinfo=None) for name, stamp in stamps.items() if stamp}
    except (ValueError, TypeError, AttributeError):
        raise ClockError(f"Write a JSON object like {CLOCK_EXAMPLE}, with times as YYYY-MM-DDTHH:MM.") from None
    return times.get(task_id) or times.get("")


def _read_clock_card(content: bytes | None) -> AppCard:
    error = ""
    tables: tuple[AppTable, ...] = ()
    if content is not None:
        try:
            read_clock(content)
            stamps = json.loads(content)
            rows = (("the episode", str(stamps.get("now") or "")), *stamps.get("tasks", {}).items())
            tables = (AppTable("times", ("task", "time"), rows, len(rows)),)
        except ClockError as flaw:
            error = str(flaw)
    about = "When the episode takes place, and if need be each of its tasks. The clock stands there for a session."
    return AppCard(CLOCK, "Clock", about, tables, error, (), CLOCK_EXAMPLE)
