"""Embedded servers shared by all processes that use a data folder.

The first process to acquire a server starts its supervisor: a detached process that starts the server, restarts it
after crashes, and stops it about a second after its last user ended. File locks rather than pid files tell which
processes are alive, because the kernel releases them however a process ends. Next to the server's data are:

- ``users``: every user holds a shared lock; the supervisor takes it exclusively to stop the server.
- ``keeper.lock``: held by the supervisor while it runs, so there is only one.
- ``start.lock``: held by whoever starts a supervisor, which inherits it until the server accepts connections, so that
  other processes wait for a working server even if the starting process is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import BinaryIO

from studio.local.paths import CHECKOUT, LocalError, data_folder, require_data_folder
from studio.local.servers import SERVERS, Server

START_SECONDS = 120.0  # the first start creates the database cluster; a start after a crash replays its log
POLL_SECONDS = 0.5
SUPERVISOR_LOCK = "keeper.lock"
MAX_CONSECUTIVE_CRASHES = 5
STABLE_SECONDS = 60.0
START_PAUSES = (0.2, 0.5, 1.0, 2.0, 3.0)
"""Seconds after each start that failed: processes of a killed PostgreSQL hold its shared memory for a moment."""

_acquired: dict[Path, int] = {}
"""Descriptors of the users' locks of this process, by the server's folder."""


def acquire(name: str, *, throwaway: bool = False) -> str:
    """Start the server unless it is up, keep it up until this process ends, and return its address.

    Safe to call concurrently and repeatedly. Raises LocalError if the server does not start.
    """
    data = require_data_folder()
    server = SERVERS[name](data)
    home = data / name
    home.mkdir(parents=True, exist_ok=True)
    if home not in _acquired:
        users = _open(home / "users")
        _lock(users, fcntl.LOCK_SH, "an old server of this data folder to stop")
        _acquired[home] = users
    start = _open(home / "start.lock")
    try:
        _lock(start, fcntl.LOCK_EX, "another process to start the server")
        if not _is_supervised(home):
            _start_supervisor(name, home, start, throwaway=throwaway)
    finally:
        os.close(start)
    deadline = time.monotonic() + START_SECONDS  # the supervisor may be restarting it after a crash
    while not server.answers():
        if time.monotonic() > deadline:
            raise LocalError(f"The embedded {name} does not answer; see {log_file(name)}.")
        time.sleep(0.05)
    return server.url


def acquired_names() -> list[str]:
    return [home.name for home in _acquired]


def is_supervised(name: str) -> bool:
    return _is_supervised(data_folder() / name)


def release_all() -> None:
    """Release all servers, and wait a moment for those to stop that no other process uses."""
    names = acquired_names()
    while _acquired:
        os.close(_acquired.popitem()[1])
    deadline = time.monotonic() + 5
    while any(is_supervised(name) and not _used_by_others(name) for name in names) and time.monotonic() < deadline:
        time.sleep(0.05)


def _used_by_others(name: str) -> bool:
    """Whether another process holds the users' lock; a supervisor that is stopping the server does not count."""
    descriptor = _open(data_folder() / name / "users")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    finally:
        os.close(descriptor)
    return False


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)


def _lock(descriptor: int, kind: int, awaited: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise LocalError(f"Waited {START_SECONDS:.0f} seconds for {awaited} in {data_folder()}.") from None
            time.sleep(0.02)


def _is_supervised(home: Path) -> bool:
    descriptor = _open(home / SUPERVISOR_LOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _start_supervisor(name: str, home: Path, start: int, *, throwaway: bool) -> None:
    """Start the supervisor and wait for its report. It inherits the start lock until the server accepts connections."""
    log = log_file(name)
    receive, send = os.pipe()
    with log.open("ab") as output, os.fdopen(receive, "rb") as report:
        arguments = [name, str(start), str(send), *(["throwaway"] if throwaway else [])]
        subprocess.Popen(
            [sys.executable, "-m", "studio.local.shared_server", *arguments],
            cwd=CHECKOUT,
            env={**os.environ, "STUDIO_DATA_DIR": str(data_folder())},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(start, send),
            start_new_session=True,  # Ctrl-C in the terminal must not reach it
        )
        os.close(send)
        message = report.read().decode()
    if message != "ready":
        raise LocalError(message or f"The embedded {name} did not start. The last lines of {log}:\n{tail(log)}")


def log_file(name: str) -> Path:
    path = data_folder() / "logs" / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > 10_000_000:
            path.replace(path.with_suffix(".old.log"))
    return path


def tail(path: Path, lines: int = 12) -> str:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 20_000))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return ""


class ServerSupervisor:
    """Starts one server, restarts it after crashes and stops it."""

    def __init__(self, server: Server, users: int, *, throwaway: bool) -> None:
        self.server = server
        self.users = users
        self.throwaway = throwaway
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Raises LocalError if it keeps ending before it answers."""
        self.started = time.monotonic()
        for pause in START_PAUSES:
            if self._answers_after_start():
                return
            time.sleep(pause)
        assert self.process is not None
        raise LocalError(f"The embedded {self.server.name} ended with status {self.process.returncode}.")

    def _answers_after_start(self) -> bool:
        """False if it ended."""
        self.server.prepare()
        self.process = subprocess.Popen(
            self.server.command(throwaway=self.throwaway), stdin=subprocess.DEVNULL, cwd="/"
        )
        while not self.server.answers():
            if self.process.poll() is not None:
                return False
            if time.monotonic() > self.started + START_SECONDS:
                raise LocalError(f"The embedded {self.server.name} does not answer.")
            time.sleep(0.02)
        return True

    def watch(self) -> None:
        """Return when there are no users; the lock is then held exclusively, so that no process can become one."""
        crashes = 0
        while not self._is_unused():
            time.sleep(POLL_SECONDS)
            if self.process is not None and self.process.poll() is not None:
                crashes = 1 if time.monotonic() > self.started + STABLE_SECONDS else crashes + 1
                if crashes > MAX_CONSECUTIVE_CRASHES:
                    raise LocalError(f"The embedded {self.server.name} crashed {crashes} times in a row.")
                print(f"{self.server.name} ended with status {self.process.returncode}; starting it again", flush=True)
                self.start()

    def stop(self) -> None:
        if self.process is None:
            return
        for stop in self.server.stop_signals:
            if self.process.poll() is None:
                self.process.send_signal(stop)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.process.wait(timeout=30)
        self.process.kill()
        self.process.wait()

    def _is_unused(self) -> bool:
        try:
            fcntl.flock(self.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def main(name: str, start: int, report: BinaryIO, *, throwaway: bool) -> int:
    data = data_folder()
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    own = _open(data / name / SUPERVISOR_LOCK)
    _lock(own, fcntl.LOCK_EX, "the previous supervisor to end")
    supervisor: ServerSupervisor | None = None
    try:
        supervisor = ServerSupervisor(SERVERS[name](data), _open(data / name / "users"), throwaway=throwaway)
        supervisor.start()
        report.write(b"ready")
        report.close()
        os.close(start)
        supervisor.watch()
    except LocalError as error:
        print(error, flush=True)
        if not report.closed:
            report.write(f"{error}\nThe last lines of {log_file(name)}:\n{tail(log_file(name))}".encode())
            report.close()
        return 1
    finally:
        if supervisor:
            supervisor.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), os.fdopen(int(sys.argv[3]), "wb"), throwaway=len(sys.argv) > 4))
