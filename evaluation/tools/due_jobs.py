"""What ``cron`` scheduled and has come due since: an event that opens the first session after it, by its clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from itertools import product
from typing import Any

from evaluation.tools.schedule import FIELDS, MOMENT, PIECE, read_jobs, write_jobs
from evaluation.tools.tool import ToolError
from evaluation.tools.workspace import Workspace, WorkspaceError
from studio.domain.opening_message import EnvironmentEvent

MOST_DAYS = 1_500
"""How far back a calendar is read: a leap day comes within them."""


def ring(workspace: Workspace, now: datetime) -> EnvironmentEvent | None:
    """The event, with everything that is due; it is noted so that nothing rings twice. None if nothing is."""
    try:
        jobs = read_jobs(workspace)
        due = [(job, when) for job in jobs if (when := _due(job, now)) is not None]
        if not due:
            return None
        once = {job["id"] for job, _ in due if "at" in job}
        write_jobs(workspace, [_rung(job, now) for job in jobs if job["id"] not in once])
    except (ToolError, WorkspaceError, OSError):
        return None  # the agent, or whoever wrote to its files, made the schedule unusable
    told = [{"id": job["id"], "due": f"{when:{MOMENT}}", "message": job["message"]} for job, when in due]
    return EnvironmentEvent("schedule", {"now": f"{now:{MOMENT}}", "due": told})


def _rung(job: Mapping[str, Any], now: datetime) -> dict[str, Any]:
    return {**job, "since": f"{now:{MOMENT}}"}


def _due(job: Mapping[str, Any], now: datetime) -> datetime | None:
    """The latest time at which it should have rung, after it rang last or was added."""
    try:
        if "at" in job:
            when = datetime.fromisoformat(str(job["at"])).replace(tzinfo=None)
            return when if when <= now else None
        since = datetime.fromisoformat(str(job["since"])).replace(tzinfo=None)
        if "every_seconds" in job:
            period = timedelta(seconds=int(job["every_seconds"]))
            return since + (now - since) // period * period if since + period <= now else None
        return latest_fit(str(job["cron_expr"]), since, now)
    except (KeyError, ValueError, TypeError, ArithmeticError):
        return None


def latest_fit(expression: str, since: datetime, now: datetime) -> datetime | None:
    """The latest moment after ``since``, at most ``now``, that fits five calendar fields. Raises ValueError."""
    parts = expression.split()
    minutes, hours, days, months, weekdays = (
        _numbers(part, *bounds) for part, bounds in zip(parts, FIELDS, strict=True)
    )
    weekdays |= {0} if 7 in weekdays else set()
    either = not parts[2].startswith("*") and not parts[4].startswith("*")
    times = [time(hour, minute) for hour, minute in product(sorted(hours), sorted(minutes))]

    def fits(day: date) -> bool:
        of_month, of_week = day.day in days, day.isoweekday() % 7 in weekdays
        return day.month in months and (of_month or of_week if either else of_month and of_week)

    for back in range(min((now.date() - since.date()).days, MOST_DAYS) + 1):
        day = now.date() - timedelta(days=back)
        if fits(day):
            moments = (datetime.combine(day, at) for at in reversed(times))
            if found := next((moment for moment in moments if since < moment <= now), None):
                return found
    return None


def _numbers(part: str, low: int, high: int) -> set[int]:
    found: set[int] = set()
    for piece in part.split(","):
        match = PIECE.fullmatch(piece)
        if match is None:
            raise ValueError(f"{piece!r} is no part of a calendar")
        first, last, step = match.groups()
        begin = low if first is None else int(first)
        end = high if first is None or (step and last is None) else int(last or first)
        found |= set(range(begin, end + 1, int(step or 1)))
    return found
