"""What a whole studio on one machine consists of, and how it is started and found again."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from studio.local import ownership
from studio.local.paths import LocalError, data_folder, require_data_folder
from studio.local.supervisor import Part

PORTS_TO_TRY = 100
LONGEST_START_SECONDS = 120.0
WEB_PROCESSES, WEB_THREADS = 2, 16
WORKER_THREADS = 32
PR_SET_PDEATHSIG = 1


class AlreadyRunningError(Exception):
    """A studio on this data folder runs already; `.studio` says what runs where."""

    def __init__(self, studio: dict[str, object]) -> None:
        super().__init__("a studio on this data folder runs already")
        self.studio = studio


def claim() -> int:
    """Be the one studio on this data folder, as long as this process lives.

    Raises AlreadyRunningError when another one is up; one that is just starting is waited for.
    """
    descriptor = os.open(require_data_folder() / "running.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    until = time.monotonic() + LONGEST_START_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note = _read_note()
            if note or time.monotonic() > until:
                raise AlreadyRunningError(note) from None
            time.sleep(0.1)
        else:
            note_file().unlink(missing_ok=True)
            return descriptor


def note_file() -> Path:
    return data_folder() / "running.json"


def _read_note() -> dict[str, object]:
    try:
        note = json.loads(note_file().read_text())
    except (FileNotFoundError, ValueError):  # it is still starting
        return {}
    return note if isinstance(note, dict) else {}


def write_note(**studio: object) -> None:
    """What another start finds out about this one."""
    fresh = note_file().with_suffix(".new")
    fresh.write_text(json.dumps(studio))
    fresh.replace(note_file())


def listen(host: str, port: int) -> socket.socket:
    """A socket on this port, or on the next free one. Raises LocalError if none of a hundred is free."""
    for candidate in range(port, port + PORTS_TO_TRY):
        try:
            family, *_, address = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0]
            listener = socket.socket(family, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(512)
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise LocalError(f"Cannot listen on {host}:{candidate}: {error.strerror or error}") from None
            listener.close()
        except OverflowError:
            break
        else:
            return listener
    raise LocalError(f"No free port from {port} on; name one with --port.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def stop_with_parent() -> None:
    """Stop when the process that started us ends, whatever ended it."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def web(listener: socket.socket) -> Part:
    argv = [sys.executable, "-m", "gunicorn", "studio.wsgi:application", "--bind", f"fd://{listener.fileno()}"]
    argv += ["--worker-class", "gthread", "--workers", str(WEB_PROCESSES), "--threads", str(WEB_THREADS)]
    argv += ["--graceful-timeout", "4", "--timeout", "120", "--no-control-socket", "--access-logfile", "-"]
    return Part("web", argv, pass_fds=[listener.fileno()])


def worker() -> Part:
    argv = [*_celery(), "worker", "--pool", "threads", "--concurrency", str(WORKER_THREADS)]
    return Part("worker", [*argv, "--loglevel", "INFO", "--without-gossip", "--without-mingle"])


def scripted_model(port: int) -> Part:
    return Part("scripted-model", [sys.executable, "manage.py", "scripted_model", "--port", str(port)])


def _celery() -> list[str]:
    return [sys.executable, "-m", "celery", "--app", "studio.celery", "--quiet"]


def answers(url: str) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return True
        except urllib.error.HTTPError as error:
            return error.code < 500
        except OSError:
            return False

    return ask


def keep_servers() -> Callable[[], None]:
    """A function that brings back an embedded server whose keeper was killed; call it now and then."""
    names = ownership.names_in_use()

    def bring_back() -> None:
        for name in names:
            if not ownership.lives(name):
                ownership.use(name)  # at the same address, so that nobody needs to be told

    return bring_back


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1", "STUDIO_DATA_DIR": str(data_folder()), **more}
