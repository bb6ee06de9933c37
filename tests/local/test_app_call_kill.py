"""A worker killed in the middle of a call of a simulated app, against the same pilot left alone."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bench.crowd import studio
from tests.evaluation.pilots.test_apps import writes_a_note
from tests.evaluation.stub_model import StubModel, decisions, serving
from tests.local.processes import finish, processes_of, wait_until

pytestmark = [pytest.mark.minutes, pytest.mark.timeout(400)]

FREEZE = '''
"""Of a worker: the first note that an app has put into its table, before the call ends, waits to be killed."""
import importlib.util
import os
import sys
import time

MARKER = {marker!r}


class Freeze:
    def find_spec(self, name, path, target=None):
        if name != "evaluation.tools.apps.framework.tables":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            put = module.Table.put

            def put_and_wait(table, record):
                put(table, record)
                if table.name == "notes":
                    try:
                        with open(MARKER, "x") as marker:
                            marker.write(str(os.getpid()))
                    except FileExistsError:
                        return record
                    time.sleep(300)
                return record

            module.Table.put = put_and_wait

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, Freeze())
'''
BEGIN = """
from evaluation.models import ModelEndpoint
from evaluation.pilots.start import PilotOptions, start_pilot
from tests.evaluation.builders import benchmark_of, intents, task
from tests.evaluation.pilots.test_apps import persona
model, _ = ModelEndpoint.objects.get_or_create(name="stub", defaults=dict(base_url={url!r}, model="m"))
benchmark = benchmark_of(task("a", intents=intents("x")), task("b", intents=intents("y")), persona=persona())
print("PILOT", start_pilot(benchmark, PilotOptions(agent="stub", user_model="stub", judge="stub"), by=None).pk)
"""
LOOK = """
import json
from evaluation.models import MadeCall, ModelCall, Pilot, Session, ToolCall
from studio.models import Blob
pilot = Pilot.objects.get(pk={pilot})
sessions = Session.objects.filter(run__pilot=pilot).order_by("position")
calls = ToolCall.objects.filter(turn__session__run__pilot=pilot).order_by("turn__session__position", "turn", "position")
states = [turn.snapshot.apps["simple_note"] for row in sessions for turn in row.turns.order_by("number")]
notes = [json.loads(bytes(Blob.objects.get(pk=sha).content)).get("notes", []) for sha in states]
print("RESULT", json.dumps(dict(
    state=pilot.state, reasons=list(sessions.values_list("state", "reason")), notes=notes,
    calls=list(calls.values_list("name", "ok", "result", "effects")),
    left=MadeCall.objects.filter(session__run__pilot=pilot).count(),
    answered=ModelCall.objects.filter(session__run__pilot=pilot, answered=True).count(),
)))
"""
ENVIRONMENT = {"STUDIO_MODEL_NETWORKS": "127.0.0.1", "STUDIO_SESSION_LEASE_SECONDS": "2"}


def shell(data: Path, code: str, word: str, **environment: str) -> str:
    told = finish(["manage.py", "shell", "-v", "0", "-c", code], data, **environment)
    return next(line for line in told.splitlines() if line.startswith(word)).removeprefix(word).strip()


def run_pilot(data: Path, model: StubModel, meanwhile: Callable[[], None] = lambda: None) -> dict[str, Any]:
    pilot = shell(data, BEGIN.format(url=model.base_url), "PILOT", **ENVIRONMENT)
    meanwhile()
    until = time.monotonic() + 150
    while time.monotonic() < until:
        result: dict[str, Any] = json.loads(shell(data, LOOK.format(pilot=pilot), "RESULT", **ENVIRONMENT))
        if result["state"] not in ("waiting", "running"):
            return result
        time.sleep(1)
    raise AssertionError(f"The pilot did not end: {result}.")


def test_worker_killed_within_an_app_call_leaves_the_apps_as_if_it_had_not_been(tmp_path: Path):
    data, hooks, marker = tmp_path / "data", tmp_path / "hooks", tmp_path / "frozen"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text(FREEZE.format(marker=str(marker)))

    def kill() -> None:
        wait_until(lambda: marker.exists() and marker.read_text(), "a call under way", seconds=90)
        victim = int(marker.read_text())
        assert "celery" in processes_of(data)[victim]
        os.kill(victim, signal.SIGKILL)

    with serving(StubModel()) as model:
        model.agent = writes_a_note
        model.follow_up = lambda body: decisions(body, lambda index: True)
        with studio(data, PYTHONPATH=str(hooks), **ENVIRONMENT):
            killed = run_pilot(data, model, kill)
            asked = model.asked["agent"]
            alone = run_pilot(data, model)

    assert killed["state"] == alone["state"] == "finished", killed["reasons"]
    assert killed["calls"] == alone["calls"]
    assert killed["notes"] == alone["notes"]
    assert [note["note_id"] for note in killed["notes"][-1]] == [1, 2]  # carried from one session to the next
    assert killed["left"] == 0
    assert asked == model.asked["agent"] - asked  # no answer was paid for twice
