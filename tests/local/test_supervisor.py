"""Processes of the studio that end again and again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from subprocess import Popen
from types import SimpleNamespace
from typing import cast

import pytest

from studio.local import supervisor as supervisors
from studio.local.paths import LocalError
from studio.local.supervisor import ManagedProcess, Supervisor


class CrashingProcess(ManagedProcess):
    """Ends as soon as it is started."""

    started = 0

    @property
    def log(self) -> Path:
        return Path("/nowhere")

    def start(self, environment: Mapping[str, str]) -> None:
        self.started += 1
        self.process = cast("Popen[bytes]", SimpleNamespace(returncode=1))

    def is_running(self) -> bool:
        return False

    def signal(self, number: int) -> None:
        pass


class SteadyProcess(CrashingProcess):
    def is_running(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(supervisors.time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(supervisors.time, "sleep", lambda seconds: pytest.fail("the other processes would wait, too"))
    return clock


def run_for(seconds: float, supervisor: Supervisor, clock: SimpleNamespace) -> None:
    end = clock.now + seconds
    while clock.now < end:
        supervisor.restart_ended()
        clock.now += 0.25


def test_crashing_worker_does_not_stop_the_web_server(clock: SimpleNamespace):
    said: list[str] = []
    worker, web = CrashingProcess("worker", []), SteadyProcess("web", [], essential=True)
    supervisor = Supervisor({}, said.append)
    supervisor.start(worker)
    supervisor.start(web)

    run_for(600, supervisor, clock)

    assert web.started == 1
    assert 10 < worker.started < 25  # quickly at first, then once a minute
    assert any("worker keeps ending" in text and "The rest goes on." in text for text in said)


def test_crashing_web_server_ends_the_studio(clock: SimpleNamespace):
    supervisor = Supervisor({}, lambda text: None)
    supervisor.start(CrashingProcess("web", [], essential=True))

    with pytest.raises(LocalError, match="web ended 5 times within 60 seconds: giving up"):
        run_for(60, supervisor, clock)
