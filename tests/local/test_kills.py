"""A studio under use whose processes are killed one after the other: what was confirmed is there."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from tests.bench.crowd import PASSWORD, PREPARE, Person, Record, everyone, studio
from tests.local.processes import finish, processes_of, wait_until

pytestmark = [pytest.mark.minutes, pytest.mark.timeout(600)]

PEOPLE, KILLS, MOST_ROUNDS = 6, 10, 20
ROUND_SECONDS = 8
VICTIMS = ("gunicorn studio.wsgi", "gunicorn studio.wsgi", "gunicorn studio.wsgi", "celery", "/bin/postgres -D")
"""Commands; the web server's first process is spared, since five of its deaths in a minute are a reason to give up."""


def kill_one(data: Path, chance: random.Random) -> str:
    victim = chance.choice(VICTIMS)
    found = sorted(pid for pid, command in processes_of(data).items() if victim in command)
    if "gunicorn" in victim:
        found = found[1:]
    if not found:
        return ""
    os.kill(chance.choice(found), signal.SIGKILL)
    return victim


def test_no_confirmed_keystroke_is_lost_when_processes_are_killed(tmp_path: Path):
    chance, record = random.Random(3), Record()
    killed: list[str] = []
    with studio(tmp_path) as address:
        code = PREPARE.format(password=PASSWORD, people=PEOPLE)
        told = finish(["manage.py", "shell", "-v", "0", "-c", code], tmp_path)
        people = [Person(name, task, address, record) for name, task in re.findall(r"^TASK (\S+) (\S+)", told, re.M)]
        everyone(people, Person.sign_in)
        for _ in range(MOST_ROUNDS):  # as many as the machine needs to start again what was killed
            until = time.monotonic() + ROUND_SECONDS
            work = threading.Thread(target=everyone, args=[people, partial(Person.work, until=until)])
            work.start()
            while time.monotonic() < until - 2:
                time.sleep(chance.uniform(1, 3))
                killed += filter(None, [kill_one(tmp_path, chance)])
            work.join()
            if len(killed) >= KILLS and record.saves > PEOPLE:
                break
        wait_until(
            lambda: all(person.ask("task", "GET", person.task)[0] == 200 for person in people),
            "what was killed last",
            seconds=120,
        )
        everyone(people, Person.check)

    assert len(killed) >= KILLS
    assert record.saves > PEOPLE
    assert record.lost == []
