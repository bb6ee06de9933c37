"""What a persona's simulated apps hold when an episode begins: ``apps/<app>.json`` among its files.

Apps are registered by the evaluation package, which this one must not import.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal

from studio.domain.app_tables.declared import DeclaredTable, RecordFlaw

FOLDER = "apps"
CLOCK = "clock"
"""``apps/clock.json`` says when the episode takes place."""
MOST_DAYS = 366
YEARS = range(1900, 2200)
DEFAULT_START = datetime(2026, 4, 13, 9, 0)  # noqa: DTZ001 - the time where the episode takes place
"""A Monday morning, where a persona's data does not say."""
DAYS = 1.0
"""Between sessions, likewise."""
SignsInBy = Literal["email", "phone_number"]
"""What of a person is the username of their account."""
CLOCK_EXAMPLE = '{"now": "2026-04-13T09:00", "days": 1, "tasks": {}}'


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


@dataclass(frozen=True)
class EpisodeTimes:
    """When an episode takes place: ``apps/clock.json``."""

    now: datetime | None = None
    """Its first session."""
    days: float | None = None
    """From one session to the next."""
    tasks: Mapping[str, datetime] = field(default_factory=dict)
    """Times of their own."""

    def start(self, task_id: str, position: int) -> datetime:
        """Of a session, by its ``position`` from 1. Its task's own time counts before any step."""
        step = timedelta(days=DAYS if self.days is None else self.days)
        return self.tasks.get(task_id) or (self.now or DEFAULT_START) + (position - 1) * step


def read_times(content: bytes) -> EpisodeTimes:
    """Raises ClockError."""
    try:
        data = json.loads(content)
        now, days = data.get("now"), data.get("days")
        if days is not None and not 0 <= float(days) <= MOST_DAYS:
            raise ValueError
        tasks = {str(name): _moment(stamp) for name, stamp in data.get("tasks", {}).items() if stamp}
        return EpisodeTimes(_moment(now) if now else None, None if days is None else float(days), tasks)
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise ClockError(f"Write a JSON object like {CLOCK_EXAMPLE}, with times as YYYY-MM-DDTHH:MM.") from None


def _moment(stamp: str) -> datetime:
    """Raises ValueError."""
    moment = datetime.fromisoformat(stamp).replace(tzinfo=None)
    if moment.year not in YEARS:
        raise ValueError
    return moment


def _read_clock_card(content: bytes | None) -> AppCard:
    error = ""
    tables: tuple[AppTable, ...] = ()
    if content is not None:
        try:
            times = read_times(content)
            named = {"the episode": times.now, **times.tasks}
            rows = tuple((name, f"{moment:%Y-%m-%dT%H:%M}" if moment else "") for name, moment in named.items())
            tables = (AppTable("times", ("task", "time"), rows, len(rows)),)
        except ClockError as flaw:
            error = str(flaw)
    about = (
        "When the first session takes place, how many days later each next one does, and if need be a task's own time."
    )
    return AppCard(CLOCK, "Clock", about, tables, error, (), CLOCK_EXAMPLE)
