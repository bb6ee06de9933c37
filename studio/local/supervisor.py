"""Supervision of a running studio's processes.

Each runs in its own session, so that Ctrl-C reaches only the supervisor, which stops them in order. If the supervisor
is killed, the kernel kills them; their progress is in the database, turn by turn.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from studio.local.paths import CHECKOUT, LocalError
from studio.local.shared_server import log_file, tail

CRASHES = 5
WITHIN_SECONDS = 60.0
REMEMBERED_SECONDS = 900.0
LONGEST_PAUSE = 60.0
STOP_SECONDS = 6.0


@dataclass
class ManagedProcess:
    name: str
    argv: Sequence[str]
    pass_fds: Sequence[int] = ()
    essential: bool = False
    """Without it the others are of no use: crash after crash ends the studio. Any other process is tried on and on."""
    process: subprocess.Popen[bytes] | None = None
    crashes: deque[float] = field(default_factory=lambda: deque(maxlen=10))
    restart_at: float | None = None

    @property
    def log(self) -> Path:
        return log_file(self.name)

    def start(self, environment: Mapping[str, str]) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "--", *self.argv],
                cwd=CHECKOUT,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=self.pass_fds,
                start_new_session=True,
            )

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Supervisor:
    def __init__(self, environment: Mapping[str, str], report: Callable[[str], None]) -> None:
        self.environment = environment
        self.report = report
        self.processes: list[ManagedProcess] = []
        self.stopping = False

    def stop_on_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._request_stop)

    def start(self, process: ManagedProcess) -> None:
        self.processes.append(process)
        process.start(self.environment)

    def wait_until(self, ready: Callable[[], bool], name: str, *, seconds: float = 120.0) -> None:
        deadline = time.monotonic() + seconds
        while not ready():
            self.restart_ended()
            if self.stopping:
                return
            if time.monotonic() > deadline:
                raise LocalError(f"{name} does not answer after {seconds:.0f} seconds; see the logs.")
            time.sleep(0.05)

    def watch(self, on_each_round: Callable[[], None]) -> None:
        """Return when a signal asks to stop. Raises LocalError if a process keeps crashing."""
        while not self.stopping:
            self.restart_ended()
            on_each_round()
            time.sleep(0.25)

    def restart_ended(self) -> None:
        """Start again what ended, each after a pause of its own."""
        for managed in self.processes:
            if managed.is_running() or managed.process is None or self.stopping:
                continue
            if managed.restart_at is None:
                managed.restart_at = time.monotonic() + self._note_crash(managed, managed.process.returncode)
            if time.monotonic() >= managed.restart_at:
                managed.restart_at = None
                managed.start(self.environment)
                self.report(f"{managed.name} was started again.")

    def _note_crash(self, managed: ManagedProcess, status: int) -> float:
        """Seconds until it may start again. Raises LocalError for an essential process in a crash loop."""
        managed.signal(signal.SIGKILL)  # what is left of its group
        now = time.monotonic()
        self.report(f"{managed.name} ended with status {status}. The end of {managed.log}:")
        self.report("\n".join(f"  | {line}" for line in tail(managed.log).splitlines()))
        managed.crashes.append(now)
        if managed.essential and sum(now - crash < WITHIN_SECONDS for crash in managed.crashes) >= CRASHES:
            raise LocalError(f"{managed.name} ended {CRASHES} times within {WITHIN_SECONDS:.0f} seconds: giving up.")
        pause = min(0.2 * 2.0 ** sum(now - crash < REMEMBERED_SECONDS for crash in managed.crashes), LONGEST_PAUSE)
        if pause > 3:
            self.report(f"{managed.name} keeps ending; the next try is in {pause:.0f} seconds. The rest goes on.")
        return pause

    def stop(self) -> None:
        """Stop all processes, last started first; kill them after STOP_SECONDS or a second signal."""
        self.stopping = False  # from here on a signal means: stop immediately
        for managed in reversed(self.processes):
            if managed.is_running():
                managed.signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while (
            any(managed.is_running() for managed in self.processes)
            and time.monotonic() < deadline
            and not self.stopping
        ):
            time.sleep(0.05)
        for managed in self.processes:
            managed.signal(signal.SIGKILL)
            if managed.process is not None:
                managed.process.wait()

    def _request_stop(self, *_: object) -> None:
        self.stopping = True
