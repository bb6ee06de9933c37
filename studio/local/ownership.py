"""Owning an embedded server for as long as anybody uses it.

A user of a server holds a shared lock on a file until its process ends, however it ends. The first one starts a
keeper: a small process in a session of its own, which starts the server, restarts it when it crashes, and stops it
within about a second after the last user is gone. Locks, not pid files, say who lives: they cannot be left behind.

Three files beside the server's data:

- ``users``: every user holds it shared; the keeper takes it exclusively only to stop.
- ``keeper.lock``: the keeper holds it for its whole life, so there is one keeper.
- ``start.lock``: who starts a keeper takes it and the keeper inherits it until the server answers. So everybody else
  waits for a server that works, even if the first starter was killed meanwhile.
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

START_SECONDS = 120.0  # a first start makes the database cluster, a start after a crash replays its log
POLL_SECONDS = 0.5
RESTARTS_IN_A_ROW = 5
STEADY_SECONDS = 60.0

_held: dict[Path, int] = {}


def use(name: str, *, throwaway: bool = False) -> str:
    """Bring the server up if it is not, use it until this process ends, and give its address.

    Safe to call from many processes at once, and again in the same process. Raises LocalError if it cannot start.
    """
    data = require_data_folder()
    server = SERVERS[name](data)
    home = data / name
    home.mkdir(parents=True, exist_ok=True)
    if home not in _held:
        users = _open(home / "users")
        _lock(users, fcntl.LOCK_SH, "an old server of this data folder to stop")
        _held[home] = users
    start = _open(home / "start.lock")
    try:
        _lock(start, fcntl.LOCK_EX, "another process to start the server")
        if not _keeper_lives(home):
            _start_keeper(name, home, start, throwaway=throwaway)
    finally:
        os.close(start)
    until = time.monotonic() + START_SECONDS  # the keeper may just be starting it again after a crash
    while not server.answers():
        if time.monotonic() > until:
            raise LocalError(f"The embedded {name} does not answer; see {log_file(name)}.")
        time.sleep(0.05)
    return server.url


def names_in_use() -> list[str]:
    """The servers this process keeps up."""
    return [home.name for home in _held]


def lives(name: str) -> bool:
    """Whether the server has a keeper."""
    return _keeper_lives(data_folder() / name)


def leave() -> None:
    """Use no server any more, and wait a moment for those that nobody else uses to stop."""
    names = names_in_use()
    while _held:
        os.close(_held.popitem()[1])
    until = time.monotonic() + 5
    while any(lives(name) and not _others_use(name) for name in names) and time.monotonic() < until:
        time.sleep(0.05)


def _others_use(name: str) -> bool:
    """Whether somebody holds the users' lock; the keeper, which holds it alone while it stops, does not count."""
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


def _lock(descriptor: int, kind: int, what: str) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        try:
            return fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise LocalError(f"Waited {START_SECONDS:.0f} seconds for {what} in {data_folder()}.") from None
            time.sleep(0.02)


def _keeper_lives(home: Path) -> bool:
    descriptor = _open(home / "keeper.lock")
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _start_keeper(name: str, home: Path, start: int, *, throwaway: bool) -> None:
    """Start the keeper and wait for its word; it inherits the start lock and lets go of it when the server answers."""
    log = log_file(name)
    receive, send = os.pipe()
    with log.open("ab") as output, os.fdopen(receive, "rb") as word:
        arguments = [name, str(start), str(send), *(["throwaway"] if throwaway else [])]
        subprocess.Popen(
            [sys.executable, "-m", "studio.local.ownership", *arguments],
            cwd=CHECKOUT,
            env={**os.environ, "STUDIO_DATA_DIR": str(data_folder())},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(start, send),
            start_new_session=True,  # Ctrl-C in our terminal must not reach it
        )
        os.close(send)
        said = word.read().decode()
    if said != "ready":
        raise LocalError(said or f"The embedded {name} did not start. The last lines of {log}:\n{tail(log)}")


def log_file(name: str) -> Path:
    """The log of a part, in the data folder; a large one of earlier days is put aside."""
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


class Keeper:
    """The process that owns one server."""

    def __init__(self, server: Server, users: int, *, throwaway: bool) -> None:
        self.server = server
        self.users = users
        self.throwaway = throwaway
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.server.prepare()
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.server.command(throwaway=self.throwaway), stdin=subprocess.DEVNULL, cwd="/"
        )
        while not self.server.answers():
            if self.process.poll() is not None:
                raise LocalError(f"The embedded {self.server.name} ended with status {self.process.returncode}.")
            if time.monotonic() > self.started + START_SECONDS:
                raise LocalError(f"The embedded {self.server.name} does not answer.")
            time.sleep(0.02)

    def keep(self) -> None:
        """Until nobody holds the users' lock any more; then it is ours, and nobody can start using what we stop."""
        crashes = 0
        while not self._nobody_uses_it():
            time.sleep(POLL_SECONDS)
            if self.process is not None and self.process.poll() is not None:
                crashes = 1 if time.monotonic() > self.started + STEADY_SECONDS else crashes + 1
                if crashes > RESTARTS_IN_A_ROW:
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

    def _nobody_uses_it(self) -> bool:
        try:
            fcntl.flock(self.users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def main(name: str, start: int, word: BinaryIO, *, throwaway: bool) -> int:
    data = data_folder()
    os.umask(0o077)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    own = _open(data / name / "keeper.lock")
    _lock(own, fcntl.LOCK_EX, "the last keeper to end")
    keeper: Keeper | None = None
    try:
        keeper = Keeper(SERVERS[name](data), _open(data / name / "users"), throwaway=throwaway)
        keeper.start()
        word.write(b"ready")
        word.close()
        os.close(start)
        keeper.keep()
    except LocalError as error:
        print(error, flush=True)
        if not word.closed:
            word.write(f"{error}\nThe last lines of {log_file(name)}:\n{tail(log_file(name))}".encode())
            word.close()
        return 1
    finally:
        if keeper:
            keeper.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), os.fdopen(int(sys.argv[3]), "wb"), throwaway=len(sys.argv) > 4))
