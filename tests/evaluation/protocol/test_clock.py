"""Time in a session follows from what was done in it."""

import re
from datetime import datetime, timedelta
from pathlib import Path

import evaluation
from evaluation.protocol.clock import MOVING, Clock, Pace, spoken
from evaluation.workspaces.app_states import Moment
from studio.domain.app_data import EpisodeTimes, read_times

START = datetime(2026, 4, 13, 9, 0)


def test_a_standing_clock_stays_where_the_session_begins():
    clock = Clock(START)

    clock.begin(3)
    clock.step()

    assert clock.now == START


def test_each_turn_and_call_moves_a_clock_by_a_fixed_step():
    clock = Clock(START, Pace(timedelta(minutes=15), timedelta(seconds=4)))
    told = [clock.now]
    clock.step()
    told.append(clock.now)
    clock.begin(3)
    told.append(clock.now)
    clock.begin(3, calls=2)
    told.append(clock.now)

    assert [f"{moment:%H:%M:%S}" for moment in told] == ["09:00:00", "09:00:04", "09:30:00", "09:30:08"]


def test_no_turn_ends_after_the_next_begins():
    clock = Clock(START, MOVING)
    clock.begin(1, calls=10_000)
    late = clock.now

    clock.begin(2)

    assert late == clock.now


def test_sessions_are_a_day_apart_or_as_far_as_the_author_says():
    def start(times: EpisodeTimes, position: int, pace: Pace = MOVING) -> datetime:
        return Moment("t", position, pace).clock(times).now

    assert start(EpisodeTimes(), 3) == datetime(2026, 4, 15, 9, 0)
    assert start(EpisodeTimes(START, days=0.5), 2) == datetime(2026, 4, 13, 21, 0)
    assert start(EpisodeTimes(START, tasks={"t": datetime(2026, 5, 4, 8, 0)}), 9) == datetime(2026, 5, 4, 8, 0)
    assert start(EpisodeTimes(START), 9, Pace()) == START


def test_times_are_read_with_their_days_and_tasks():
    content = b'{"now": "2027-03-01T09:00", "days": 2, "tasks": {"a": "2027-03-02T10:30"}}'

    assert read_times(content) == EpisodeTimes(datetime(2027, 3, 1, 9), 2.0, {"a": datetime(2027, 3, 2, 10, 30)})


def test_a_moment_is_spoken_as_people_say_it():
    assert spoken(START) == "Monday, 13 April 2026, 09:00"


ROOMS = ("agents", "engine", "grading", "protocol", "sandbox", "tools", "trials", "workspaces")
MACHINES = re.compile(r"datetime\.(?:now|utcnow|today)|date\.today|timezone\.now|\btime\.(?:time|localtime|gmtime)\(")


def test_nothing_that_plays_or_grades_a_session_asks_the_machine_for_the_time():
    files = [file for room in ROOMS for file in sorted(Path(evaluation.__path__[0], room).rglob("*.py"))]

    assert len(files) > 100
    assert [str(file) for file in files if MACHINES.search(file.read_text(encoding="utf-8"))] == []
