"""``cron``: reminders and recurring tasks, stored in the workspace so that they last from session to session;
``ringing`` says when they are due."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import Field

from evaluation.tools.tool import Arguments, ToolError, ToolOutcome
from evaluation.tools.workspace import Workspace, WorkspaceError
from studio.domain.opening_message import EnvironmentEvent

SCHEDULE = "schedule.json"
MAX_JOBS = 200
FIELDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
PIECE = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/([1-9]\d?))?")
MOMENT = "%Y-%m-%dT%H:%M"


class Cron(Arguments):
    action: Annotated[Literal["add", "list", "remove"], Field(description="What to do")]
    message: Annotated[str, Field(max_length=2_000, description="add: what to remind of or to do")] = ""
    at: Annotated[str, Field(max_length=40, description="add, once: such as 2026-04-13T09:00")] = ""
    every_seconds: Annotated[int, Field(ge=0, description="add, again and again: seconds in between")] = 0
    cron_expr: Annotated[str, Field(max_length=100, description="add, by the calendar: such as 0 9 * * 1-5")] = ""
    job_id: Annotated[str, Field(max_length=40, description="remove: which one")] = ""


def schedule(workspace: Workspace, now: datetime, arguments: Cron) -> ToolOutcome:
    jobs = read_jobs(workspace)
    if arguments.action == "list":
        return ToolOutcome("\n".join(map(_line, jobs)) or "Nothing is scheduled.")
    if arguments.action == "remove":
        left = [job for job in jobs if job["id"] != arguments.job_id]
        if len(left) == len(jobs):
            known = ", ".join(job["id"] for job in jobs) or "none"
            raise ToolError(f"There is no scheduled task {arguments.job_id!r}. There are: {known}.")
        return _write(workspace, left, f"Removed {arguments.job_id}.")
    if len(jobs) >= MAX_JOBS:
        raise ToolError(f"At most {MAX_JOBS} tasks can be scheduled; remove some.")
    job = _job(arguments, now, 1 + max((int(job["id"].rpartition("-")[2]) for job in jobs), default=0))
    return _write(workspace, [*jobs, job], f"Scheduled {_line(job)}")


def _job(arguments: Cron, now: datetime, number: int) -> dict[str, Any]:
    if not arguments.message.strip():
        raise ToolError("Say in message what to remind of.")
    given: Mapping[str, Any] = {
        name: value
        for name, value in (
            ("at", arguments.at.strip()),
            ("every_seconds", arguments.every_seconds),
            ("cron_expr", arguments.cron_expr.strip()),
        )
        if value
    }
    if len(given) != 1:
        raise ToolError("Give one of at, every_seconds and cron_expr.")
    if "at" in given:
        when = _moment(str(given["at"]))
        if when <= now:
            raise ToolError(f"{given['at']} is past: it is {now:{MOMENT}}.")
        given = {"at": f"{when:{MOMENT}}"}
    if "cron_expr" in given and not is_calendar(str(given["cron_expr"])):
        raise ToolError(
            "cron_expr has five parts: minute, hour, day, month, weekday. 0 9 * * 1-5 is 9:00 from Monday to Friday."
        )
    return {"id": f"job-{number}", "message": arguments.message.strip(), **given, "since": f"{now:{MOMENT}}"}


def is_calendar(expression: str) -> bool:
    try:
        return bool(_fields_of(expression))
    except ValueError:
        return False


def _fields_of(expression: str) -> list[set[int]]:
    """Raises ValueError."""
    return [_numbers(part, *bounds) for part, bounds in zip(expression.split(), FIELDS, strict=True)]


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        raise ToolError(f"{text!r} is not a time; write it as 2026-04-13T09:00.") from None


def _line(job: Mapping[str, Any]) -> str:
    when = f"at {job['at']}" if "at" in job else ""
    when = when or (f"every {job['every_seconds']} seconds" if "every_seconds" in job else f"cron {job['cron_expr']}")
    return f"{job['id']} ({when}): {job['message']}"


def read_jobs(workspace: Workspace) -> list[dict[str, Any]]:
    """Raises ToolError."""
    try:
        jobs = json.loads(workspace.read(SCHEDULE))["jobs"]
        readable = [job for job in jobs if re.fullmatch(r"job-\d{1,9}", job["id"]) and _line(job)]
    except WorkspaceError:
        return []
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ToolError(f"{SCHEDULE} is damaged; delete or fix it.") from None
    return readable


def write_jobs(workspace: Workspace, jobs: list[dict[str, Any]]) -> None:
    """Raises WorkspaceError."""
    workspace.write(SCHEDULE, (json.dumps({"jobs": jobs}, ensure_ascii=False, indent=1) + "\n").encode())


def _write(workspace: Workspace, jobs: list[dict[str, Any]], said: str) -> ToolOutcome:
    write_jobs(workspace, jobs)
    return ToolOutcome(said, (f"{SCHEDULE}: changed",))


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
    minutes, hours, days, months, weekdays = _fields_of(expression)
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
        first, last, step = match.groups() if match else (None, None, None)
        if match is None or (first is not None and not low <= int(first) <= int(last or first) <= high):
            raise ValueError(f"{piece!r} is no part of a calendar")
        begin = low if first is None else int(first)
        end = high if first is None or (step and last is None) else int(last or first)
        found |= set(range(begin, end + 1, int(step or 1)))
    return found
