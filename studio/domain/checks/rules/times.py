"""Rules about when sessions take place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from studio.domain.app_data import CLOCK, ClockError, EpisodeTimes, read_times
from studio.domain.checks.rule import CheckContext, Flaw, in_field, rule
from studio.domain.task import TaskSpec
from studio.domain.text.dates import WEEKDAYS, Day, find_days

PUBLISHED = "_meta.json"
"""A file of published skills: ``publishedAt`` in milliseconds."""
CLOCK_PAGE = "on the persona’s page, under Simulated apps, Clock"
_TODAY = re.compile(
    r"\b(?P<when>today|tonight|tomorrow|yesterday)(?:['’]s|,| is| \(| –| —)*\s?"
    rf"(?P<day>{'|'.join(WEEKDAYS)})\b(?! (?:before|after|next|last))",
    re.IGNORECASE,
)
_FROM_TODAY = {"tomorrow": 1, "yesterday": -1}
_BEFORE_DATE = re.compile(
    r"\b(?P<when>today|tonight|tomorrow|yesterday)(?:['’]s date)?(?:['’]s|,|:| is| \(| –| —)*(?: the)?\s?\Z",
    re.IGNORECASE,
)
_AFTER_DATE = re.compile(r"(?:,? (?:which|that) is | ?\()(?P<when>today|tomorrow|yesterday)\b", re.IGNORECASE)
_IT_IS = re.compile(r"\bit(?: is|['’]s)(?: now| already)?(?: the)? \Z", re.IGNORECASE)
_TODAY_AFTER = re.compile(r",? (?P<when>today)\b", re.IGNORECASE)
_MORE_DAYS = re.compile(r",? (?:and|or) \d|, \d")
"""After a date that begins a list of days, so that the word before it is no name of it."""


@rule("session-weekday", "warning", across_tasks=True)
@in_field("initial_request")
def session_weekday(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The agent is told the day of its session; a request that calls it another weekday cannot be followed."""
    start = context.once(_starts).get(task.task_id)
    if start is None:
        return
    for match in _TODAY.finditer(task.initial_request):
        day = start + timedelta(days=_FROM_TODAY.get(match["when"].lower(), 0))
        if day.weekday() != WEEKDAYS.index(match["day"].lower()):
            yield Flaw(
                f"By the clock of this session, {match['when'].lower()} is a {day:%A} ({day.day} {day:%B %Y}).",
                f"Correct the weekday, or the session’s time: {CLOCK_PAGE}.",
                passage=match[0],
            )


@rule("session-date", "warning", across_tasks=True)
@in_field("initial_request")
def session_date(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """The agent is told the day of its session; a request that dates its today otherwise can be read in two ways."""
    start = context.once(_starts).get(task.task_id)
    if start is None:
        return
    for day in find_days(task.initial_request):
        if named := _relative_day(task.initial_request, day):
            when, passage = named
            real = start + timedelta(days=_FROM_TODAY.get(when, 0))
            if (day.month, day.day, day.year or real.year) != (real.month, real.day, real.year):
                yield Flaw(
                    f"By the clock of this session, {when} is {real:%A}, {_said(real)}.",
                    f"Correct the date, or the session’s time: {CLOCK_PAGE}.",
                    passage=passage,
                )


def _relative_day(text: str, day: Day) -> tuple[str, str] | None:
    """Which of today, tomorrow and yesterday the text calls this day, and the passage that does so."""
    start, end = day.span.start, day.span.end
    before, after = text[max(0, start - 40) : start], text[end : end + 40]
    if (match := _BEFORE_DATE.search(before)) and not _MORE_DAYS.match(after):
        return match["when"].lower(), text[start - len(match[0]) : end]
    match = _AFTER_DATE.match(after) or (_TODAY_AFTER.match(after) if _IT_IS.search(before) else None)
    return (match["when"].lower(), text[start : end + len(match[0])]) if match else None


@rule("session-goes-back", "warning", across_tasks=True)
@in_field("initial_request")
def session_goes_back(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A session happens after the one before it, or files, mails and plans of it come from the future."""
    starts = context.once(_starts)
    earlier = context.earlier(task)
    if task.task_id not in starts or not earlier:
        return
    before, start = starts[earlier[-1].task_id], starts[task.task_id]
    if start < before:
        yield Flaw(
            f"This session takes place on {_said(start)}, before the one of “{earlier[-1].task_id}” ({_said(before)}).",
            f"Correct the times: {CLOCK_PAGE}.",
            other=earlier[-1].task_id,
        )


@rule("skill-from-later", "hint", across_tasks=True)
@in_field("skills")
def skill_from_later(task: TaskSpec, context: CheckContext) -> Iterator[Flaw]:
    """A skill that was published after the session could not be installed in it. Reported at the first session."""
    start = context.once(_starts).get(task.task_id)
    if start is None or context.earlier(task):
        return
    for skill in context.episode.persona.skills:
        published = next(
            (_published(context.texts.get(file.sha256, "")) for file in skill.files if file.path == PUBLISHED), None
        )
        if published is not None and published > start:
            yield Flaw(
                f"The skill “{skill.name}” was published on {_said(published)}, after this session ({_said(start)}).",
                f"Let the episode begin later: {CLOCK_PAGE}.",
            )


def _starts(context: CheckContext) -> dict[str, datetime]:
    """By placed task; none where the clock cannot be read."""
    file = context.episode.persona.app_data.get(CLOCK)
    if file is None:
        times = EpisodeTimes()
    elif file.sha256 not in context.texts:
        return {}
    else:
        try:
            times = read_times(context.texts[file.sha256].encode())
        except ClockError:
            return {}
    tasks = enumerate(context.episode.tasks, start=1)
    return {task.task_id: times.start(task.task_id, position) for position, task in tasks}


def _published(text: str) -> datetime | None:
    try:
        return datetime.fromtimestamp(json.loads(text)["publishedAt"] / 1000, UTC).replace(tzinfo=None)
    except (ValueError, TypeError, KeyError, OverflowError, OSError, RecursionError):
        return None


def _said(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
