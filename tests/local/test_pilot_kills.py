"""A pilot whose worker, broker and database are killed twenty times, against the same pilot left alone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from studio.local.paths import CHECKOUT
from tests.bench.crowd import studio
from tests.local.processes import finish, processes_of

pytestmark = [pytest.mark.minutes, pytest.mark.timeout(3000)]

SEED, KILLS, PERSONAS, RUNS, AT_ONCE = 11, 20, 5, 4, 4
VICTIMS = ("celery", "celery", "valkey-server", "/bin/postgres -D")
LATENCY = 500
"""Milliseconds of a model call: the pilot should outlast its kills."""
ENVIRONMENT = {"STUDIO_MODEL_NETWORKS": "127.0.0.1", "STUDIO_SESSION_LEASE_SECONDS": "2"}

BEGIN = """
from evaluation.models import ModelEndpoint
from evaluation.pilots.start import PilotOptions, start_pilot
from studio.models import Benchmark
from tests.bench.engine import _benchmark
name = {name!r}
benchmark = Benchmark.objects.filter(slug="engine").first() or _benchmark({personas})
model, _ = ModelEndpoint.objects.get_or_create(
    name=name, defaults=dict(base_url={url!r}, model=name, max_concurrency={at_once})
)
options = PilotOptions(agent=name, user_model=name, judge=name, runs={runs}, protocol="release")  # which the stub plays
print("PILOT", start_pilot(benchmark, options, by=None).pk)
"""
LOOK = """
import json
from evaluation.models import ModelCall, Pilot, Session
pilot = Pilot.objects.get(pk={pilot})
sessions = Session.objects.filter(run__pilot=pilot).order_by("run__persona_revision", "run__number", "position")
rows = [
    [row.state, row.reason, row.turn_count, row.covered, row.comp_compat, row.comp_strict,
     list(row.turns.values_list("user_message", "reply", "next_message")),
     list(row.turns.values_list("number", "tool_calls__name", "tool_calls__result")),
     list(row.intents.values_list("index", "status", "turn")),
     sorted(row.judgings.values_list("scoring", "verdicts__turn", "verdicts__index", "verdicts__met"), key=str)]
    for row in sessions
]
calls = ModelCall.objects.filter(session__run__pilot=pilot)
print("RESULT", json.dumps(dict(
    state=pilot.state, rows=rows, calls=calls.count(), answered=calls.filter(answered=True).count(),
    paid=sum(row.calls for row in sessions),
    requests=calls.filter(answered=True).values("session", "request_hash").distinct().count(),
)))
"""


class Model:
    """The bench's stub in a process of its own."""

    def __enter__(self) -> Model:
        argv = [sys.executable, "-m", "tests.bench.engine_stub", "--latency", str(LATENCY)]
        self.process = subprocess.Popen(argv, cwd=CHECKOUT, stdout=subprocess.PIPE)
        assert self.process.stdout
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}"
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def asked(self) -> int:
        with urllib.request.urlopen(f"{self.url}/stats") as answer:
            return int(json.load(answer)["calls"])


def shell(data: Path, code: str, word: str) -> str:
    """What the code prints after ``word``; again if the database was away."""
    for attempt in range(10):
        try:
            told = finish(["manage.py", "shell", "-v", "0", "-c", code], data, **ENVIRONMENT)
            return next(line for line in told.splitlines() if line.startswith(word)).removeprefix(word).strip()
        except AssertionError:
            if attempt == 9:
                raise
            time.sleep(3)
    raise AssertionError


def run_pilot(
    data: Path, name: str, model: Model, disturb: random.Random | None = None
) -> tuple[dict[str, Any], list[str]]:
    begin = BEGIN.format(name=name, url=f"{model.url}/v1", personas=PERSONAS, runs=RUNS, at_once=AT_ONCE)
    look = LOOK.format(pilot=shell(data, begin, "PILOT"))
    killed: list[str] = []
    until = time.monotonic() + 1200
    while time.monotonic() < until:
        if disturb and len(killed) < KILLS:
            time.sleep(disturb.uniform(0.5, 3))
            killed += filter(None, [kill_one(data, disturb)])
            continue
        result = json.loads(shell(data, look, "RESULT"))
        if result["state"] not in ("waiting", "running"):
            return result, killed
        time.sleep(1)
    raise AssertionError(f"The pilot did not end: {result['state']}.")


def servers_of(data: Path) -> dict[int, str]:
    """Those that name the folder themselves; the broker has no environment."""
    commands = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            commands[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except (OSError, ValueError):
            continue
    return {pid: command for pid, command in commands.items() if str(data) in command}


def kill_one(data: Path, chance: random.Random) -> str:
    victim = chance.choice(VICTIMS)
    commands = processes_of(data) | servers_of(data)
    found = sorted(pid for pid, command in commands.items() if victim in command)
    if not found:
        return ""
    os.kill(chance.choice(found), signal.SIGKILL)
    return victim


def test_twenty_kills_change_nothing_of_a_pilot_and_calls_are_sent_twice_only_if_under_way(tmp_path: Path):
    chance = random.Random(SEED)
    with Model() as model, studio(tmp_path, **ENVIRONMENT):
        undisturbed, _ = run_pilot(tmp_path, "left-alone", model)
        sent_alone = model.asked
        disturbed, killed = run_pilot(tmp_path, "disturbed", model, chance)
        sent = model.asked - sent_alone

    twice = sent - disturbed["calls"]
    print(f"{Counter(killed)} killed; {disturbed['calls']} calls stored, {twice} sent twice")
    assert len(killed) == KILLS
    assert undisturbed["state"] == disturbed["state"] == "finished"
    assert sent_alone == undisturbed["calls"] == PERSONAS * RUNS * 16
    for one, other in zip(disturbed["rows"], undisturbed["rows"], strict=True):
        assert [(a, b) for a, b in zip(one, other, strict=True) if a != b] == []
    assert disturbed["requests"] == disturbed["answered"] == undisturbed["answered"]
    assert 0 <= twice <= AT_ONCE * KILLS
    assert disturbed["calls"] <= disturbed["paid"] <= sent  # an answer that came twice was paid twice
