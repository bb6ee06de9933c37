"""Commands of agents, and how they try to get out."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evaluation.protocol.clock import MOVING, Clock
from evaluation.sandbox import SandboxLimits, packages, told_time, why_unavailable
from evaluation.sandbox.shell import run_shell
from evaluation.tools import (
    Outbox,
    Shell,
    Surroundings,
    Toolbox,
    Workspace,
    WorkspaceLimits,
    for_authors,
    general,
    toolbox_for,
)
from evaluation.tools.general import GENERAL
from evaluation.tools.shell import Exec
from evaluation.tools.tool import ToolError
from tests.evaluation.sandbox.test_run import running

MIB = 1024 * 1024
SMALL = SandboxLimits(
    seconds=30, cpu_seconds=20, memory=512 * MIB, folder=24 * MIB, files=2_000, processes=32, open_files=64
)
PROBE = Path(__file__).with_name("escape_probe.py").read_text()
MARK = f"outlives-its-call-{os.getpid()}"
HELD_INSIDE = (
    "reads a file of the studio",
    "reads through the first process's root",
    "climbs above its own root",
    "writes to the system",
    "replaces the password file",
    "connects to this machine",
    "sends to the internet",
    "opens a local socket",
    "sees processes of the machine",
    "kills the first process",
    "becomes root",
    "changes its root",
    "makes a namespace of its own",
    "mounts something",
    "watches another process",
    "makes a device",
    "reads the memory of the machine",
    "finds a secret in its environment",
    "inherits an open file",
    "keeps memory that nobody counts",
    "changes the kernel's settings",
    "raises its own limits",
    "types into the terminal",
)
HELD_OUTSIDE = (
    "writes through a link planted in an asset",
    "writes through a planted link to a folder",
    "leaves a link to a file outside",
    "leaves a link to a folder outside",
    "leaves a pipe",
    "leaves a socket",
    "leaves a name with a line break",
    "leaves a name that is no text",
    "leaves a program with another's rights",
    "leaves a process",
    "replaces a file by a link",
)


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> None:
    if words := why_unavailable():
        pytest.skip(words)


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bool]:
    """What got out: one command tries everything."""
    outside, root = tmp_path_factory.mktemp("outside"), tmp_path_factory.mktemp("root")
    (outside / "secret").write_text("before")
    (outside / "folder").mkdir()
    (root / "asset").symlink_to(outside / "secret")
    (root / "assets").symlink_to(outside / "folder")
    (root / "replaced").write_text("mine")
    (root / "probe.py").write_text(PROBE)
    (root / "--version").write_text("a name that is an option")
    patch = pytest.MonkeyPatch()
    patch.setenv("STUDIO_SECRET", "hush")
    try:
        outcome = Shell(Workspace(root), limits=SMALL).execute(
            GENERAL["exec"].arguments(command=f"python3 probe.py {outside}/secret {MARK}")  # type: ignore[call-arg]
        )
    finally:
        patch.undo()
    escaped: dict[str, bool] = json.loads((root / "result.json").read_text())
    left = {entry.name: entry for entry in os.scandir(root)}
    kinds = {name: stat.S_IFMT(entry.stat(follow_symlinks=False).st_mode) for name, entry in left.items()}
    escaped |= {
        HELD_OUTSIDE[0]: (outside / "secret").read_text() != "before",
        HELD_OUTSIDE[1]: bool(os.listdir(outside / "folder")),
        HELD_OUTSIDE[2]: "link" in left,
        HELD_OUTSIDE[3]: "links" in left,
        HELD_OUTSIDE[4]: "pipe" in left or stat.S_IFIFO in kinds.values(),
        HELD_OUTSIDE[5]: "socket" in left or stat.S_IFSOCK in kinds.values(),
        HELD_OUTSIDE[6]: any("\n" in name for name in left),
        HELD_OUTSIDE[7]: any("\udcff" in name for name in left),
        HELD_OUTSIDE[8]: bool((root / "rights").stat().st_mode & 0o6000),
        HELD_OUTSIDE[9]: bool(running(MARK)),
        HELD_OUTSIDE[10]: (root / "replaced").is_symlink() or (root / "replaced").read_text() != "mine",
        "": "not kept: " not in outcome.text or (root / "--version").read_text() != "a name that is an option",
    }
    return escaped


@pytest.mark.parametrize("attempt", [*HELD_INSIDE, *HELD_OUTSIDE])
def test_command_does_not_get_out(attempts: dict[str, bool], attempt: str):
    assert attempts[attempt] is False
    assert attempts[""] is False


@pytest.fixture
def toolbox(tmp_path: Path) -> Toolbox:
    workspace = Workspace(tmp_path, WorkspaceLimits(file_bytes=MIB, total_bytes=2 * MIB, files=20))
    return toolbox_for(Surroundings(workspace, Outbox(), shell=Shell(workspace, limits=SMALL)), [])


def run(toolbox: Toolbox, command: str, **arguments: Any) -> Any:
    return toolbox.call("exec", json.dumps({"command": command, **arguments}))


def test_command_works_on_the_workspace(toolbox: Toolbox, tmp_path: Path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "old/deep").mkdir(parents=True)
    (tmp_path / "old/deep/gone.txt").write_text("x")
    (tmp_path / "kind").write_text("file")

    record = run(
        toolbox,
        "wc -l < a.txt; echo three >> a.txt; rm -r old; rm kind; mkdir kind empty; echo new > kind/b; echo oops >&2",
    )

    assert (record.ok, record.result) == (True, "2\n[standard error]\noops")
    assert sorted(record.changes) == [
        "a.txt: changed",
        "kind/b: new file",
        "kind: deleted",
        "old/deep/gone.txt: deleted",
    ]
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "a.txt",
        "empty",
        "kind",
        "kind/b",
    ]
    assert (tmp_path / "a.txt").read_text() == "one\ntwo\nthree\n"


def test_failed_command_says_how_and_what_it_left(toolbox: Toolbox, tmp_path: Path):
    record = run(toolbox, "echo begun > note; echo said; exit 3")

    assert (record.ok, record.result, record.changes) == (False, "said\n[exit status 3]", ("note: new file",))


def test_command_is_stopped_at_its_time_and_its_session_has_an_end(toolbox: Toolbox, tmp_path: Path):
    shell = Shell(Workspace(tmp_path), used=1_799.5, limits=SMALL)
    used_up = toolbox_for(Surroundings(shell.workspace, shell=shell), [])

    first = run(used_up, "echo begun; sleep 60")
    second = run(used_up, "echo more")

    assert (first.ok, first.result) == (False, "begun\n[It was stopped: it ran longer than 0.5 s.]")
    assert second.result == "Error: The commands of this session have taken 1800 seconds; there are no more."


def test_output_is_told_while_a_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evaluation.sandbox.run.TELL_SECONDS", 0.0)
    told: list[str] = []
    shell = Shell(Workspace(tmp_path), limits=SMALL, tell=told.append)

    command = "echo one; echo two >&2; sleep 0.4; echo three"
    run(toolbox_for(Surroundings(shell.workspace, shell=shell), []), command)

    assert all(text.startswith(f"$ {command}") for text in told)
    printed = [text.removeprefix(f"$ {command}\n") for text in told]
    assert printed[-1] in ("one\n[standard error]\ntwo", "one\nthree\n[standard error]\ntwo")
    assert any(text.startswith("one\n[") for text in printed)
    assert len(told) < 6


def test_command_cannot_fill_the_workspace(toolbox: Toolbox, tmp_path: Path):
    (tmp_path / "a.txt").write_text("mine")

    record = run(
        toolbox,
        "head -c 1500000 /dev/zero > big; for i in 1 2 3; do head -c 900000 /dev/zero > part$i; done;"
        "for i in $(seq 40); do : > f$i; done; head -c 90M /dev/zero > disk || echo full; rm disk; echo end",
    )

    assert record.result.startswith("full\nend\n")
    assert "big (big is too large to read (1500000 bytes).)" in record.result
    assert "more]" in record.result
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 20
    assert sum(path.stat().st_size for path in files) <= 2 * MIB
    assert (tmp_path / "a.txt").read_text() == "mine"


def test_workspace_that_is_no_folder_any_more_stays_as_it_was(toolbox: Toolbox, tmp_path: Path):
    (tmp_path / "a.txt").write_text("mine")

    record = run(toolbox, "cd /; rm -r /home/workspace; ln -s / /home/workspace; echo done")

    assert record.result.startswith("done\n[not kept: the workspace is no folder any more")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_long_output_keeps_its_start_and_end(toolbox: Toolbox):
    record = run(toolbox, "echo first; head -c 90000 /dev/zero | tr '\\0' x; echo; echo last")

    assert record.result.startswith("first\nxxx")
    assert record.result.endswith("xxx\nlast")
    assert "characters left out: write to a file and read that by lines]" in record.result
    assert len(record.result) < 9_000


def test_without_a_sandbox_there_is_no_shell(toolbox: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    lacking = {**GENERAL, "exec": replace(GENERAL["exec"], lacking=lambda: "No namespaces.")}
    monkeypatch.setattr(general, "GENERAL", lacking)
    monkeypatch.setattr(for_authors, "GENERAL", lacking)

    offered = toolbox_for(Surroundings(Workspace(tmp_path), shell=Shell(Workspace(tmp_path))), [])
    cards = {card.name: card.lacking for card in for_authors.tool_cards([])[0]}

    assert "exec" not in [schema["function"]["name"] for schema in offered.schemas]
    assert (cards["exec"], cards["grep"]) == ("No namespaces.", "")


def test_missing_packages_are_named_with_the_command_that_installs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("STUDIO_DATA_DIR", str(tmp_path))

    [exec_card] = [card for card in for_authors.tool_cards([])[0] if card.name == "exec"]

    assert packages.why_no_packages().endswith("are not installed for agents: run make agent-packages.")
    assert packages.why_no_packages() in exec_card.plain


@pytest.fixture
def readable() -> Iterator[Path]:
    """A folder that the sandbox's user can reach, unlike pytest's when root runs it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.minutes
def test_packages_are_built_from_the_lock_and_work_in_the_sandbox(readable: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("STUDIO_DATA_DIR", str(readable))
    code = """
import docx, matplotlib.pyplot as plt, openpyxl, pandas, pptx
frame = pandas.read_csv("a.csv")
frame.to_excel("a.xlsx")
frame.plot()
plt.savefig("a.png")
print(frame.sales.sum())
"""
    try:
        packages.build_packages()
    except subprocess.CalledProcessError:
        pytest.skip("no package registry can be reached")
    left: list[str] = []

    outcome = run_shell(
        "python a.py",
        [("a.py", code.encode()), ("a.csv", b"region,sales\na,1\nb,2\n")],
        lambda folder: left.extend(entry.path for entry in Workspace(folder).entries()),
    )

    assert (outcome.stdout, left) == (b"3\n", ["a.csv", "a.png", "a.py", "a.xlsx"])


@pytest.mark.minutes
@pytest.mark.parametrize(
    ("command", "sign"),
    [
        (":(){ :|:& };:; sleep 30", "stopped"),
        ("python3 -c 'x = [bytearray(1 << 20) for _ in range(4000)]'", "Error"),
        ("while :; do :; done", "stopped"),
        ("yes", "printed more than"),
        ("mkdir d; cd d; i=0; while :; do : > $i; i=$((i+1)); done", "more than 2,000 files"),
        ("setsid sleep 300 & disown; nohup sleep 300 >/dev/null 2>&1 & echo fine", "fine"),
    ],
)
def test_greedy_command_is_stopped(toolbox: Toolbox, command: str, sign: str):
    assert sign in run(toolbox, command, timeout=5).result
    assert run(toolbox, "echo well").result == "well"


def at_nine(tmp_path: Path) -> Callable[[str], str]:
    clock = Clock(datetime(2026, 4, 13, 9, 0), MOVING)
    shell = Shell(Workspace(tmp_path), clock=clock)
    (tmp_path / "old.txt").write_text("old")

    def run(command: str) -> str:
        return shell.execute(Exec(command=command)).text

    return run


DATES = """
date '+%A, %F %T'; date -d tomorrow +%F; date -d '+3 days' '+%F %H:%M'; date --date='2 weeks ago' +%F
date -d 'tomorrow 10:30' '+%F %H:%M'; date -d 2026-12-24 +%A; date -d @0 +%Y; stat -c %y old.txt | cut -c 1-10
"""
TOLD = [
    "Monday, 2026-04-13 09:00:00",
    "2026-04-14",
    "2026-04-16 09:00",
    "2026-03-30",
    "2026-04-14 10:30",
    "Thursday",
    "1970",
    "2026-04-13",
]


def test_date_tells_the_sessions_time_where_libfaketime_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(told_time, "find_library", str)
    run = at_nine(tmp_path)

    assert run(DATES).splitlines() == TOLD
    with pytest.raises(ToolError, match="today is Monday"):
        run("date -d 'next friday'")


@pytest.mark.skipif(not told_time.find_library(), reason="libfaketime is not installed")
def test_every_program_is_told_the_sessions_time_with_libfaketime(tmp_path: Path):
    run = at_nine(tmp_path)

    assert run(DATES).splitlines() == TOLD
    assert run("python3 -c 'import datetime; print(datetime.date.today())'; date -d friday +%F").split() == [
        "2026-04-13",
        "2026-04-17",
    ]


def test_folders_are_as_old_as_the_session(tmp_path: Path):
    (tmp_path / "notes").mkdir()

    shown = at_nine(tmp_path)("stat -c %y . .. notes notes/.. ~ /tmp/. old.txt")

    assert {line[:16] for line in shown.splitlines()} == {"2026-04-13 09:00"}


def test_a_standing_clock_leaves_commands_the_machines_time(tmp_path: Path):
    shell = Shell(Workspace(tmp_path), clock=Clock(datetime(2026, 4, 13, 9, 0)))

    assert shell.execute(Exec(command="date -u +%F")).text == f"{datetime.now(UTC):%F}"
