"""The processes of a running studio under one parent: started in order, watched, restarted, stopped together.

A part runs in a session of its own, so that Ctrl-C reaches the supervisor alone, which then stops the parts in order.
If the supervisor itself is killed, the kernel kills the parts; what they were doing is in the database, turn by turn.
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

from studio.local.ownership import log_file, tail
from studio.local.paths import CHECKOUT, LocalError

CRASHES = 5
WITHIN_SECONDS = 60.0
STOP_SECONDS = 6.0


@dataclass
class Part:
    """One process of the studio, and how to start it again."""

    name: str
    argv: Sequence[str]
    pass_fds: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    crashes: deque[float] = field(default_factory=lambda: deque(maxlen=CRASHES))

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

    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        """To the whole group, also when its first process is gone already."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


class Supervisor:
    """Keeps parts running until told to stop."""

    def __init__(self, environment: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.environment = environment
        self.say = say
        self.parts: list[Part] = []
        self.stopping = False

    def stop_on_signals(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._ask_to_stop)

    def start(self, part: Part) -> None:
        self.parts.append(part)
        part.start(self.environment)

    def wait_until(self, ready: Callable[[], bool], what: str, *, seconds: float = 60.0) -> None:
        """Raises LocalError when it is not ready in time."""
        until = time.monotonic() + seconds
        while not ready():
            self.mend()
            if self.stopping:
                return
            if time.monotonic() > until:
                raise LocalError(f"{what} does not answer after {seconds:.0f} seconds; see the logs.")
            time.sleep(0.05)

    def watch(self, each_time: Callable[[], None]) -> None:
        """Until a signal asks to stop. Raises LocalError when a part cannot be kept running."""
        while not self.stopping:
            self.mend()
            each_time()
            time.sleep(0.25)

    def mend(self) -> None:
        """Start again what ended."""
        for part in self.parts:
            if part.runs() or part.process is None or self.stopping:
                continue
            part.signal(signal.SIGKILL)  # what is left of its group
            now = time.monotonic()
            self.say(f"{part.name} ended with status {part.process.returncode}. The end of {part.log}:")
            self.say("\n".join(f"  | {line}" for line in tail(part.log).splitlines()))
            part.crashes.append(now)
            if len(part.crashes) == CRASHES and now - part.crashes[0] < WITHIN_SECONDS:
                raise LocalError(f"{part.name} ended {CRASHES} times within {WITHIN_SECONDS:.0f} seconds: giving up.")
            time.sleep(min(0.2 * 2 ** len(part.crashes), 3.0))
            part.start(self.environment)
            self.say(f"{part.name} was started again.")

    def stop(self) -> None:
        """Ask every part to end, last started first; after some seconds, or a second signal, make it end."""
        self.stopping = False  # from here on a signal means: at once
        for part in reversed(self.parts):
            if part.runs():
                part.signal(signal.SIGTERM)
        until = time.monotonic() + STOP_SECONDS
        while any(part.runs() for part in self.parts) and time.monotonic() < until and not self.stopping:
            time.sleep(0.05)
        for part in self.parts:
            part.signal(signal.SIGKILL)
            if part.process is not None:
                part.process.wait()

    def _ask_to_stop(self, *_: object) -> None:
        self.stopping = True
