"""A validation by a model over HTTP, whose workers are killed twice: it ends as one that is left alone does, and no
answer that was stored is asked for again."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bench.crowd import studio
from tests.evaluation.stub_model import StubModel, decisions, serving
from tests.local.processes import processes_of, wait_until
from tests.local.test_pilot_kills import ENVIRONMENT, shell

pytestmark = [pytest.mark.minutes, pytest.mark.timeout(1500)]
SEED, KILLS, TASKS, AT_ONCE = 5, 2, 9, 4
LATENCY = 1.5
"""Seconds of an answer: the validation should outlast its kills."""
BEGIN = """
from evaluation.models import ModelEndpoint
from evaluation.probes.solutions import write_solution
from evaluation.probes.validation import ValidationOptions, start_validation
from evaluation.protocol.given import GivenTurn
from studio.models import Task
from tests.evaluation.builders import benchmark_of, intents, rubric, task
ModelEndpoint.objects.create(name="stub", base_url={url!r}, model="stub", max_concurrency={at_once})
benchmark = benchmark_of(*(
    task(f"note-{{at}}", checklist=(rubric(f"It says fee {{at}}."),), intents=intents(f"Say the harbour fee {{at}}."))
    for at in range({tasks})
))
for row in Task.objects.filter(persona__benchmark=benchmark).select_related("persona__benchmark"):
    write_solution(row, GivenTurn(f"With fee {{row.task_id[-1]}}."), by=None)
options = ValidationOptions(agent="stub", judge="stub", cost=0, tokens=10_000_000)
print("VALIDATION", start_validation(benchmark, options, by=None).pk)
"""
LOOK = """
import json
from evaluation.models import ModelCall, Validation
from evaluation.probes.standing import standings
row = Validation.objects.select_related("benchmark").get(pk={validation})
calls = ModelCall.objects.filter(session__probe__validation=row)
print("RESULT", json.dumps(dict(
    state=row.state, reason=row.reason, calls=calls.count(), answered=calls.filter(answered=True).count(),
    requests=calls.filter(answered=True).values("session", "request_hash").distinct().count(),
    over=row.probes.filter(items__isnull=False).count(), probes=row.probes.count(),
    validated=[each.validated for each in standings(row.benchmark)],
)))
"""


def write(body: dict[str, Any]) -> str:
    """The fee, where it is told."""
    time.sleep(LATENCY)
    told = re.search(r"harbour fee (\d)", json.dumps(body["messages"]))
    return f"With fee {told[1]}." if told else "A note."


def judge(body: dict[str, Any]) -> str:
    time.sleep(LATENCY)
    shown = json.dumps(body["messages"])
    asked = re.search(r"It says fee (\d)", shown)
    return decisions(body, lambda _: asked is not None and f"With fee {asked[1]}." in shown)


def test_killed_workers_lose_nothing_of_a_validation_and_pay_for_no_stored_answer_twice(tmp_path: Path) -> None:
    stub = StubModel()
    stub.agent, stub.checklist = write, judge
    chance = random.Random(SEED)
    with serving(stub), studio(tmp_path, **ENVIRONMENT):
        begin = BEGIN.format(url=stub.base_url, at_once=AT_ONCE, tasks=TASKS)
        look = LOOK.format(validation=shell(tmp_path, begin, "VALIDATION"))
        killed, asked = 0, 0
        while killed < KILLS:
            more = asked + 1 + chance.randrange(3)
            wait_until(lambda more=more: stub.asked.total() >= more, f"questions after {killed} kills", seconds=180)
            asked = stub.asked.total()
            workers = sorted(pid for pid, command in processes_of(tmp_path).items() if "celery" in command)
            for pid in workers:  # all, so that none asks on while another comes up
                os.kill(pid, signal.SIGKILL)
            killed += bool(workers)
        until = time.monotonic() + 600
        while (result := json.loads(shell(tmp_path, look, "RESULT")))["state"] == "running":
            assert time.monotonic() < until, result
            time.sleep(1)
    print(result, stub.asked.total())
    assert (result["state"], result["reason"]) == ("finished", "")
    assert result["over"] == result["probes"] == TASKS * 8
    assert result["validated"] == [True] * TASKS
    assert result["requests"] == result["answered"] == result["calls"]
    assert 0 <= stub.asked.total() - result["calls"] <= AT_ONCE * KILLS  # those that were under way
