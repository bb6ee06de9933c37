"""Embedded servers shared by all processes that use a data folder.

Whoever needs a server that is not kept starts its keeper: a detached process that starts the server, restarts it after
crashes, and stops it about a second after its last user ended. File locks rather than pid files tell which processes
are alive, because the kernel releases them however a process ends. Next to the server's data are:

- ``users``: every user holds a shared lock; the keeper takes it exclusively to stop the server.
- ``keeper.lock``: held by the keeper while it runs; another one that is started meanwhile ends at once.
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

from studio.local.paths import CHECKOUT, LocalError, data_folder, require_data_folder
from studio.local.servers import SERVERS, Server

START_SECONDS = 120.0  # the first start creates the database cluster; a start after a crash replays its log
POLL_SECONDS = 0.5
MAX_CONSECUTIVE_CRASHES = 5
CRASH_PAUSE = 0.2
"""Seconds before the next start, doubled with each crash: a killed PostgreSQL's processes hold its shared memory."""
STABLE_SECONDS = 60.0

_acquired: dict[Path, int] = {}
"""Descriptors of the users' locks of this process, by the server's folder."""


def acquire(name: str, *, throwaway: bool = False, wait: bool = True) -> str:
    """Start the server unless it is up, keep it up until this process ends, and return its address. Without ``wait``
    it may not answer yet.

    Safe to call concurrently and repeatedly. Raises LocalError if the server does not start.
    """
    data = require_data_folder()
    server = SERVERS[name](data)
    home = data / name
    home.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + START_SECONDS
    if home not in _acquired:
        users = _open(home / "users")
        while not _try_lock(users, fcntl.LOCK_SH):
            if time.monotonic() > deadline:
                raise LocalError(f"Waited {START_SECONDS:.0f} seconds for an old server in {data} to stop.")
            time.sleep(0.02)
        _acquired[home] = users
    keeper: subprocess.Popen[bytes] | None = None
    while not (is_kept(name) and server.answers()):
        if keeper and keeper.poll():
            log = log_file(name)
            raise LocalError(f"The embedded {name} did not start. The last lines of {log}:\n{tail(log)}")
        if time.monotonic() > deadline:
            raise LocalError(f"The embedded {name} does not answer; see {log_file(name)}.")
        if not is_kept(name) and (keeper is None or keeper.poll() is not None):
            keeper = _start_keeper(name, throwaway=throwaway)
        if not wait:
            break
        time.sleep(0.02)
    return server.url


def acquired_names() -> list[str]:
    return [home.name for home in _acquired]


def is_kept(name: str) -> bool:
    return _is_held(data_folder() / name / "keeper.lock", fcntl.LOCK_SH)


def release_all() -> None:
    """Release all servers, and wait a moment for those to stop that no other process uses."""
    names = acquired_names()
    while _acquired:
        os.close(_acquired.popitem()[1])
    deadline = time.monotonic() + 5
    while any(is_kept(name) and not _used_by_others(name) for name in names) and time.monotonic() < deadline:
        time.sleep(0.05)


def _used_by_others(name: str) -> bool:
    """Whether another process holds the users' lock; a keeper that is stopping the server does not count."""
    users = data_folder() / name / "users"
    return _is_held(users, fcntl.LOCK_EX) and not _is_held(users, fcntl.LOCK_SH)


def _is_held(path: Path, kind: int) -> bool:
    """Whether another process holds a lock that rules this one out."""
    descriptor = _open(path)
    try:
        return not _try_lock(descriptor, kind)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CREAT, 0o644)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start_keeper(name: str, *, throwaway: bool) -> subprocess.Popen[bytes]:
    with log_file(name).open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "studio.local.shared_server", name, *(["throwaway"] if throwaway else [])],
            cwd=CHECKOUT,
            env={**os.environ, "STUDIO_DATA_DIR": str(data_folder())},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,  # Ctrl-C in the terminal must not reach it
        )


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


def keep(server: Server, users: int, *, throwaway: bool) -> None:
    """Keep the server up while it has users. ``users`` is then locked, so that no process can become one.

    Raises LocalError if the server keeps ending.
    """
    crashes = 0
    while True:
        server.prepare()
        started = time.monotonic()
        process = subprocess.Popen(server.command(throwaway=throwaway), stdin=subprocess.DEVNULL, cwd="/")
        try:
            while process.poll() is None:
                if _try_lock(users, fcntl.LOCK_EX):
                    return
                time.sleep(POLL_SECONDS)
        finally:
            _stop(process, server.stop_signals)
        crashes = 1 if time.monotonic() > started + STABLE_SECONDS else crashes + 1
        ended = f"The embedded {server.name} ended with status {process.returncode}"
        if crashes > MAX_CONSECUTIVE_CRASHES:
            raise LocalError(f"{ended}, {crashes} times in a row.")
        print(f"{ended}; starting it again.", flush=True)
        time.sleep(CRASH_PAUSE * 2**crashes)


def _stop(process: subprocess.Popen[bytes], signals: tuple[signal.Signals, ...]) -> None:
    for stop in signals:
        if process.poll() is None:
            process.send_signal(stop)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
    process.kill()
    process.wait()


def main(name: str, *, throwaway: bool) -> None:
    home = data_folder() / name
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    if _try_lock(_open(home / "keeper.lock"), fcntl.LOCK_EX):
        try:
            keep(SERVERS[name](home.parent), _open(home / "users"), throwaway=throwaway)
        except LocalError as error:
            sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1], throwaway=len(sys.argv) > 2)
