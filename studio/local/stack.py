"""The processes of a studio on one machine, and the lock and status file of a running one."""

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

from studio.local import shared_server
from studio.local.paths import LocalError, data_folder, require_data_folder
from studio.local.supervisor import ManagedProcess

PORTS_TO_TRY = 100
MAX_START_SECONDS = 120.0
WEB_PROCESSES, WEB_THREADS = 2, 16
WORKER_PROCESSES = os.cpu_count() or 1
WEB_CONNECTIONS, WORKER_CONNECTIONS = 10, 12
"""Of each process to the database."""
KEEP_ALIVE_SECONDS = 75
"""Longer than browsers and proxies keep an idle connection, or a request meets a connection just closed."""
ACCESS_LOG = '%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s" %({x-request-id}o)s'
PR_SET_PDEATHSIG = 1


class AlreadyRunningError(Exception):
    """A studio already runs on this data folder; ``studio`` is its status file's content."""

    def __init__(self, studio: dict[str, object]) -> None:
        super().__init__("a studio already runs on this data folder")
        self.studio = studio


def lock_data_folder(on_wait: Callable[[], None]) -> int:
    """Make this process the only studio on the data folder until it ends; return the lock's descriptor.

    Waits for a studio that is starting, and calls ``on_wait`` before. Raises AlreadyRunningError if one is up.
    """
    descriptor = os.open(require_data_folder() / "running.lock", os.O_RDONLY | os.O_CREAT, 0o644)
    deadline = time.monotonic() + MAX_START_SECONDS
    waiting = False
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            status = _read_status()
            if status or time.monotonic() > deadline:
                raise AlreadyRunningError(status) from None
            if not waiting:
                on_wait()
            waiting = True
            time.sleep(0.1)
        else:
            status_file().unlink(missing_ok=True)
            return descriptor


def status_file() -> Path:
    return data_folder() / "running.json"


def _read_status() -> dict[str, object]:
    try:
        status = json.loads(status_file().read_text())
    except (FileNotFoundError, ValueError):  # it is still starting
        return {}
    return status if isinstance(status, dict) else {}


def write_status(**studio: object) -> None:
    fresh = status_file().with_suffix(".new")
    fresh.write_text(json.dumps(studio))
    fresh.replace(status_file())


def listen(host: str, port: int) -> socket.socket:
    """A socket on this port, or the next free one. Raises LocalError if PORTS_TO_TRY are taken."""
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
    """Have the kernel send SIGTERM when the parent process ends."""
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def web_process(listener: socket.socket, gate: int) -> ManagedProcess:
    """It loads the studio at once, and answers when the pipe whose reading end is ``gate`` is closed."""
    argv = ["env", f"STUDIO_DATABASE_CONNECTIONS={WEB_CONNECTIONS}", f"STUDIO_GATE={gate}", sys.executable, "-m"]
    argv += [
        "gunicorn",
        "studio.wsgi:application",
        "--config",
        "python:studio.web.gunicorn",
        "--bind",
        f"fd://{listener.fileno()}",
    ]
    argv += ["--worker-class", "gthread", "--workers", str(WEB_PROCESSES), "--threads", str(WEB_THREADS)]
    argv += ["--max-requests", "20000", "--max-requests-jitter", "4000"]
    argv += ["--keep-alive", str(KEEP_ALIVE_SECONDS), "--graceful-timeout", "4", "--timeout", "120"]
    argv += ["--no-control-socket", "--access-logfile", "-", "--access-logformat", ACCESS_LOG]
    argv += ["--logger-class", "studio.web.access_log.DiscreetLogger"]
    return ManagedProcess("web", argv, pass_fds=[listener.fileno(), gate], essential=True)


def worker_processes() -> list[ManagedProcess]:
    argv = ["env", f"STUDIO_DATABASE_CONNECTIONS={WORKER_CONNECTIONS}"]
    argv += [*_celery(), "worker", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
    names = ["worker", *(f"worker-{number}" for number in range(2, WORKER_PROCESSES + 1))]
    return [ManagedProcess(name, [*argv, "--hostname", f"{name}@%h"]) for name in names]


def beat_process() -> ManagedProcess:
    return ManagedProcess("beat", [*_celery(), "beat", "--loglevel", "INFO", "--pidfile="])


def scripted_model_process(port: int) -> ManagedProcess:
    return ManagedProcess("scripted-model", [sys.executable, "manage.py", "scripted_model", "--port", str(port)])


def _celery() -> list[str]:
    """Without Django's checks, which import all pages."""
    return ["env", "CELERY_SKIP_CHECKS=1", sys.executable, "-m", "celery", "--app", "studio.celery", "--quiet"]


def answers_at(url: str) -> Callable[[], bool]:
    request = urllib.request.Request(url, headers={"X-Forwarded-Proto": "https"})  # or HTTP would be redirected

    def answers() -> bool:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return True
        except urllib.error.HTTPError as error:
            return error.code < 500
        except OSError:
            return False

    return answers


def server_reviver() -> Callable[[], None]:
    names = shared_server.acquired_names()

    def revive() -> None:
        for name in names:
            if not shared_server.is_kept(name):
                shared_server.acquire(name)  # the address stays the same

    return revive


ALLOCATOR = {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "4194304", "MALLOC_MMAP_THRESHOLD_": "1048576"}
"""Threads share two heaps, which give back what is free: otherwise memory grows with the largest requests. But not what
each call takes anew, such as the 300 kB of a compressor: the system zeroes those pages every time."""


def environment(**more: str) -> dict[str, str]:
    return {**ALLOCATOR, **os.environ, "PYTHONUNBUFFERED": "1", "STUDIO_DATA_DIR": str(data_folder()), **more}
