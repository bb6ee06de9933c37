"""The embedded servers are shared, private, persistent, and stopped when unused."""

from __future__ import annotations

import fcntl
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import BinaryIO, ClassVar

import pytest

from studio.local import shared_server
from studio.local.paths import LocalError
from tests.local.processes import finish, processes_of, start, wait_until, wait_until_all_ended

# Acquires the servers, prints when the database started, and releases them when its input ends.
USER = """
import os, sys, psycopg, redis
from studio.local.services import ensure_broker, ensure_database
ensure_database(); ensure_broker()
connection = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
print(connection.execute("select pg_postmaster_start_time()").fetchone()[0], flush=True)
sys.stdin.read()
"""


def sql(statement: str) -> list[str]:
    """Arguments for Python that run a statement on the embedded database and print its first value."""
    code = f"""
import os, psycopg
from studio.local.services import ensure_database
ensure_database()
done = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True).execute({statement!r})
print(done.fetchone()[0] if done.description else "")
"""
    return ["-c", code]


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    # A long name with a space: its path is too long for a socket, and must be quoted in addresses.
    folder = tmp_path / ("a studio's data " + "x" * 60)
    yield folder
    wait_until_all_ended(folder)


@pytest.mark.slow
def test_concurrent_processes_share_one_server_that_stops_after_the_last(data: Path):
    users = [start(["-c", USER], data) for _ in range(3)]

    started = {user.stdout.readline() for user in users if user.stdout}
    for user in users[:2]:
        user.communicate(timeout=60)
    alive = [command for command in processes_of(data).values() if "/postgres " in command]
    users[2].kill()  # as by kill -9
    users[2].wait()
    wait_until_all_ended(data)

    assert len(started) == 1
    assert alive


@pytest.mark.slow
def test_crashed_server_restarts_with_its_data(data: Path):
    finish(sql("create table stored as select 42 as value"), data)
    user = start(["-c", USER], data)
    assert user.stdout
    before = user.stdout.readline()

    postmaster = next(pid for pid, command in processes_of(data).items() if "/bin/postgres -D" in command)
    os.kill(postmaster, signal.SIGKILL)
    wait_until(lambda: postmaster not in processes_of(data), "the crash", seconds=60)
    wait_until(lambda: any("/bin/postgres -D" in command for command in processes_of(data).values()), "it", seconds=60)
    value = finish(sql("select value from stored"), data)
    after = finish(sql("select pg_postmaster_start_time()"), data)
    user.communicate(timeout=60)

    assert value == "42\n"
    assert after != before


class EndsWhileItStarts:
    """A server that ends before it answers, as often as told."""

    name: ClassVar[str] = "postgres"
    stop_signals: ClassVar[tuple[signal.Signals, ...]] = (signal.SIGTERM,)
    url = ""

    def __init__(self, failures: int, user: BinaryIO) -> None:
        self.failures = failures
        self.user = user

    def prepare(self) -> None:
        self.failures -= 1

    def command(self, *, throwaway: bool) -> list[str]:
        if self.failures < 0:
            self.user.close()  # the last user ends
        return ["false"] if self.failures >= 0 else ["sleep", "60"]

    def answers(self) -> bool:
        return self.failures < 0


@pytest.mark.parametrize("failures", [2, 100])
def test_server_that_ends_while_it_starts_is_started_again_a_few_times(
    failures: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(shared_server, "CRASH_PAUSE", 0.0)
    user = (tmp_path / "users").open("wb")
    fcntl.flock(user, fcntl.LOCK_SH)
    server = EndsWhileItStarts(failures, user)

    with (
        user,
        (tmp_path / "users").open("rb") as users,
        nullcontext() if failures < 5 else pytest.raises(LocalError, match="ended with status 1, 6 times in a row"),
    ):
        shared_server.keep(server, users.fileno(), throwaway=True)

    assert server.failures == (-1 if failures < 5 else 94)


def test_next_user_restarts_a_server_whose_keeper_was_killed(data: Path):
    user = start(["-c", USER], data)
    assert user.stdout
    before = user.stdout.readline()
    for pid, command in processes_of(data).items():
        if "studio.local.shared_server" in command:
            os.kill(pid, signal.SIGKILL)

    after = finish(sql("select pg_postmaster_start_time()"), data)
    user.communicate(timeout=60)

    assert after != before


@pytest.mark.slow
def test_database_role_is_no_superuser_and_servers_do_not_run_as_root(data: Path):
    user = start(["-c", USER], data)
    assert user.stdout
    user.stdout.readline()

    owners = {
        Path(f"/proc/{pid}").stat().st_uid
        for pid, command in processes_of(data).items()
        if "/bin/postgres" in command or "valkey-server" in command
    }
    superuser = finish(sql("select rolsuper from pg_roles where rolname = current_user"), data)
    listens = finish(sql("select setting from pg_settings where name = 'listen_addresses'"), data)
    user.communicate(timeout=60)

    assert owners
    assert 0 not in owners
    assert superuser == "False\n"
    assert listens == "\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs servers as another user")
def test_root_can_use_a_data_folder_that_others_cannot_reach(tmp_path: Path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    data = closed / "data"

    answer = finish(sql("select 1"), data)
    mode = closed.stat().st_mode & 0o777
    wait_until_all_ended(data)

    assert answer == "1\n"
    assert mode == 0o700


def test_data_folder_of_another_user_is_rejected_with_an_explanation(data: Path):
    (data / "postgres").mkdir(parents=True)
    (data / "postgres" / "data").symlink_to("/")

    process = start(sql("select 1"), data)
    output, _ = process.communicate(timeout=150)

    assert process.returncode == 1
    assert f"{data}/postgres/data belongs to user id" in output
    assert "set STUDIO_DATA_DIR" in output


def test_error_names_a_data_folder_that_cannot_be_created():
    process = start(sql("select 1"), Path("/proc/nowhere"))
    output, _ = process.communicate(timeout=150)

    assert process.returncode == 1
    assert "The data folder /proc/nowhere cannot be made" in output
