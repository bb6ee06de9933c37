from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from evaluation.tools import Workspace
from evaluation.tools.schedule import SCHEDULE, Cron, latest_fit, ring, schedule

MONDAY = datetime(2026, 4, 13, 9, 0)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def add(workspace: Workspace, **arguments: str | int) -> None:
    schedule(workspace, MONDAY, Cron.model_validate({"action": "add", **arguments}))


def due(workspace: Workspace, now: datetime) -> list[tuple[str, str]]:
    event = ring(workspace, now)
    return [(each["due"], each["message"]) for each in event.payload["due"]] if event else []


def test_reminder_rings_once_when_its_time_has_come(workspace: Workspace):
    add(workspace, message="Call Ada", at="2026-04-14T10:00")

    assert due(workspace, datetime(2026, 4, 14, 9, 59)) == []
    assert due(workspace, datetime(2026, 4, 15, 8, 0)) == [("2026-04-14T10:00", "Call Ada")]
    assert due(workspace, datetime(2026, 4, 16, 8, 0)) == []
    assert json.loads(workspace.read(SCHEDULE)) == {"jobs": []}


def test_recurring_task_rings_for_its_latest_time_and_stays(workspace: Workspace):
    add(workspace, message="Report", cron_expr="30 8 * * 1-5")
    add(workspace, message="Stretch", every_seconds=7_200)

    assert due(workspace, datetime(2026, 4, 19, 12, 0)) == [
        ("2026-04-17T08:30", "Report"),
        ("2026-04-19T11:00", "Stretch"),
    ]
    assert due(workspace, datetime(2026, 4, 19, 12, 0)) == []
    assert due(workspace, datetime(2026, 4, 20, 8, 30)) == [
        ("2026-04-20T08:30", "Report"),
        ("2026-04-20T08:00", "Stretch"),
    ]


def test_event_reads_as_one_of_the_environment(workspace: Workspace):
    add(workspace, message="Call Ada", at="2026-04-14T10:00")

    event = ring(workspace, datetime(2026, 4, 14, 10, 0))

    assert event is not None
    assert event.text.startswith("[Environment signal: schedule] What you scheduled is due.")
    assert event.payload["now"] == "2026-04-14T10:00"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"jobs": 3}',
        '{"jobs": [{"id": "job-1", "message": "x", "at": "soon"}]}',
        '{"jobs": [{"id": "job-1", "message": "x", "every_seconds": 0, "since": "2026-01-01T00:00"}]}',
        '{"jobs": [{"id": "job-1", "message": "x", "every_seconds": 1e99, "since": "2026-01-01T00:00"}]}',
        '{"jobs": [{"id": "job-1", "message": "x", "every_seconds": 60}]}',
        '{"jobs": [{"id": "job-1", "message": "x", "cron_expr": "* * *", "since": "2026-01-01T00:00"}]}',
    ],
)
def test_schedule_that_the_agent_made_unusable_rings_nothing(workspace: Workspace, content: str):
    workspace.write(SCHEDULE, content.encode())

    assert ring(workspace, MONDAY) is None


@pytest.mark.parametrize(
    ("expression", "latest"),
    [
        ("0 9 * * *", "2026-04-13T09:00"),
        ("*/25 8 * * *", "2026-04-13T08:50"),
        ("15/20 7 * * *", "2026-04-13T07:55"),
        ("0 0 1 * *", "2026-04-01T00:00"),
        ("0 6 29 2 *", "2024-02-29T06:00"),
        ("0 12 * * 7", "2026-04-12T12:00"),
        ("0 12 10 * 6", "2026-04-11T12:00"),
        ("0 0 30 2 *", None),
    ],
)
def test_calendar_is_read_as_cron_reads_it(expression: str, latest: str | None):
    found = latest_fit(expression, datetime(2023, 1, 1), MONDAY)

    assert (found and found.isoformat(timespec="minutes")) == latest
