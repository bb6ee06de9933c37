"""What confined code can and cannot do. Each program here is one that somebody could upload."""

import os
import platform
import shutil
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest

from evaluation.sandbox import (
    SandboxLimits,
    SandboxResult,
    SandboxUnavailableError,
    chain,
    run,
    run_python,
    why_unavailable,
)
from evaluation.sandbox.documents import PACKAGES, read_document
from evaluation.sandbox.interpreter import describe_interpreter
from evaluation.sandbox.seccomp import build_filter

MIB = 1024 * 1024
SHORT = SandboxLimits(seconds=1.5)


@pytest.fixture(autouse=True)
def sandbox() -> None:
    if words := why_unavailable():
        pytest.skip(words)


def last_line(outcome: SandboxResult) -> str:
    return outcome.stderr.decode().strip().splitlines()[-1]


def test_program_gets_input_and_arguments_and_returns_output():
    program = "import sys; print(sys.argv[1:], sys.stdin.read()); print('aside', file=sys.stderr)"

    outcome = run_python(program, args=("one", "two"), stdin="grüße".encode())

    assert (outcome.stdout.decode(), outcome.stderr) == ("['one', 'two'] grüße\n", b"aside\n")
    assert (outcome.exit, outcome.reason) == (0, "ok")


def test_program_finds_its_other_files():
    files = {"main.py": b"import sys; print(open(sys.argv[0].replace('main.py', 'data')).read())", "data": b"here"}

    assert run_python(files).stdout == b"here\n"


@pytest.mark.parametrize("name", ["../main.py", "a/b", "", ".hidden"])
def test_file_name_with_a_path_is_rejected(name):
    with pytest.raises(ValueError, match="not a plain file name"):
        run_python({"main.py": b"", name: b""})


def test_studio_environment_descriptors_and_files_are_hidden(monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgres://secret@db/studio")
    program = """
import os, sys
from pathlib import Path
print(sorted(os.environ), os.listdir("/proc/self/fd"), os.getuid(), sorted(os.listdir("/")), os.listdir("/ws"))
print([p for p in sys.argv[1:] if Path(p).exists()])
"""
    outside = (str(Path(__file__)), "/etc/passwd", "/etc/shadow", "/root", "/home", "/var", "/run/postgresql", "/sys")

    lines = run_python(program, args=outside).stdout.decode().splitlines()

    names = "['HOME', 'LANG', 'PATH', 'PWD', 'TMPDIR'] ['0', '1', '2', '3'] 1000 "  # 3 is the listing itself
    assert lines[0].startswith(names)
    assert lines[1] == "[]"


@pytest.mark.parametrize("module", ["studio", "django", "psycopg", "evaluation"])
def test_only_the_standard_library_can_be_imported(module):
    assert last_line(run_python(f"import {module}")) == f"ModuleNotFoundError: No module named '{module}'"


@pytest.mark.parametrize("path", ["/x", "/usr/x", "/dev/x", "/dev/shm/x", "/run/x", "/run/program/main.py", "/etc/x"])
def test_only_the_working_folder_is_writable(path):
    outcome = run_python(f"open('/ws/x', 'w').write('fine'); open('/tmp/y', 'w'); open({path!r}, 'w')")

    assert "OSError: [Errno 30] Read-only file system" in last_line(outcome) or "denied" in last_line(outcome)


def test_working_folder_size_is_limited():
    limits = SandboxLimits(folder=MIB)

    one = run_python("open('/ws/x', 'wb').write(bytes(2 * 1024 * 1024))", limits=limits)
    many = run_python("for i in range(20): open(f'/ws/{i}', 'wb').write(bytes(100_000))", limits=limits)

    assert "File too large" in last_line(one)
    assert "No space left" in last_line(many)


def test_runs_do_not_share_files():
    run_python("open('/ws/x', 'w').write('left behind')")

    assert run_python("import os; print(os.listdir('/ws'))").stdout == b"[]\n"


@pytest.mark.parametrize("address", ["('127.0.0.1', 5432)", "('1.1.1.1', 53)"])
def test_network_is_unavailable(address):
    outcome = run_python(f"import socket; socket.create_connection({address}, timeout=1)")

    assert "not permitted" in last_line(outcome)


@pytest.mark.parametrize("program", ["while True: pass", "import os, time; os.close(1); os.close(2); time.sleep(60)"])
def test_endless_program_is_stopped(program):
    outcome = run_python(program, limits=SHORT)

    assert (outcome.exit, outcome.reason) == (None, "timeout")
    assert outcome.seconds < 5
    assert outcome.explain(SHORT) == "It was stopped: it ran longer than 1.5 s."


@pytest.mark.slow
def test_program_over_its_cpu_limit_is_killed():
    outcome = run_python("while True: pass", limits=SandboxLimits(seconds=20, cpu_seconds=1))

    assert outcome.reason == "killed"
    assert "CPU" in outcome.explain(SHORT)


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_endless_output_is_cut_and_the_program_stopped(stream):
    limits = SandboxLimits(output=100_000)

    outcome = run_python(f"import sys\nwhile True: sys.{stream}.write('x' * 65536)", limits=limits)

    assert outcome.reason == "output"
    assert getattr(outcome, stream) == b"x" * 100_000


def test_memory_limit_is_reported():
    outcome = run_python("x = bytearray(10 ** 9)")

    assert (outcome.reason, outcome.explain(SandboxLimits())) == (
        "memory",
        "It was stopped: it used more than 512 MiB of memory.",
    )


def test_memory_limit_covers_all_processes_together():
    program = """
import os, time
for _ in range(10):
    if not os.fork():
        held = b"x" * (40 << 20)
        time.sleep(30)
time.sleep(30)
"""
    outcome = run_python(program, limits=SandboxLimits(memory=160 * MIB))

    assert outcome.reason == "memory"
    assert outcome.seconds < 5


def test_fork_bomb_is_limited_and_does_not_affect_the_next_run():
    bomb = "import os, time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(.1)"

    assert run_python(bomb, limits=SHORT).reason == "timeout"
    assert run_python("import os; print(os.fork() >= 0)").reason == "ok"


@pytest.mark.parametrize(
    "program",
    ["import os; os.memfd_create('x')", "import os; os.execv('/usr/bin/unshare', ['unshare', '-U', 'true'])"],
)
def test_system_calls_that_evade_limits_are_refused(program):
    assert "not permitted" in last_line(run_python(program))


def test_nested_user_namespaces_are_refused_also_where_no_filter_of_system_calls_is(monkeypatch):
    monkeypatch.setattr(chain, "build_filter", lambda **_: struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000))

    outcome = run_python("import os; os.execv('/usr/bin/unshare', ['unshare', '--user', 'true'])")

    assert (outcome.exit, "unshare failed" in last_line(outcome)) == (1, True)


@pytest.mark.parametrize(
    "call",
    [
        "socket.socketpair()",
        "socket.socket(socket.AF_UNIX)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        "socket.socket(socket.AF_VSOCK)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    ],
)
def test_socket_of_any_family_is_refused(call):
    assert last_line(run_python(f"import socket; {call}")) == "PermissionError: [Errno 1] Operation not permitted"


@pytest.mark.parametrize("make", ["open(f'/ws/{i}', 'w')", "os.symlink('x', f'/ws/{i}')", "os.mkdir(f'/ws/{i}')"])
def test_program_that_makes_too_many_empty_files_is_stopped(make):
    outcome = run_python(f"import os\nfor i in range(3_000_000): {make}", limits=SandboxLimits(seconds=20))

    assert outcome.reason == "files"
    assert outcome.explain(SandboxLimits()) == "It was stopped: it made more than 4,096 files and locks."


def test_sandboxed_program_is_the_first_to_go_when_memory_runs_out():
    assert run_python("print(open('/proc/self/oom_score_adj').read())").stdout.strip() == b"1000"


def test_exit_status_is_reported_like_a_shell():
    assert (run_python("raise SystemExit(3)").exit, run_python("raise SystemExit(3)").reason) == (3, "crash")
    assert run_python("import os; os.kill(os.getpid(), 9)").reason == "killed"
    assert run_python("1 / 0").explain(SHORT) == "It ended with status 1: ZeroDivisionError: division by zero"


def test_no_process_or_descriptor_is_left_behind():
    open_before = set(os.listdir("/proc/self/fd"))
    program = "import os, time\nif not os.fork():\n    os.setsid()\n    time.sleep(300)"

    started = time.monotonic()
    outcome = run_python(program, limits=SHORT)

    assert time.monotonic() - started < 5
    assert outcome.reason in ("ok", "timeout")
    assert set(os.listdir("/proc/self/fd")) <= open_before


def test_sandbox_dies_with_its_worker():
    mark = f"mark-{uuid.uuid4().hex}"
    program = "import os, time\nif not os.fork(): os.setsid()\ntime.sleep(300)"
    code = f"import evaluation.sandbox as s; s.run_python({program!r}, args=({mark!r},), limits=s.SandboxLimits(300))"
    worker = subprocess.Popen([sys.executable, "-c", code], cwd=chain.STUDIO)
    try:
        wait_until(lambda: len(running(mark)) > 3)
    finally:
        worker.kill()
        worker.wait()

    wait_until(lambda: not running(mark))


def running(mark: str) -> list[int]:
    """Processes with this word among their arguments, other than ours."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            words = Path("/proc", entry, "cmdline").read_bytes().split(b"\0") if entry.isdigit() else []
        except OSError:
            continue
        if mark.encode() in words:
            found.append(int(entry))
    return found


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_bubblewrap_may_be_in_a_folder_of_root(tmp_path, monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("only root drops to another user")
    binary, libraries = chain.find_bubblewrap()
    if libraries is None:
        pytest.skip("the system's bubblewrap is in use")
    shutil.copy(binary, tmp_path / "bwrap")
    shutil.copytree(libraries, tmp_path / "libs")
    tmp_path.chmod(0o700)
    monkeypatch.setattr(chain, "find_bubblewrap", lambda: (tmp_path / "bwrap", tmp_path / "libs"))

    assert run_python("print(1)").stdout == b"1\n"


def test_studio_python_is_used_without_a_system_python(tmp_path, monkeypatch):
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if not Path(sys.base_prefix, "bin", name).exists():
        pytest.skip("this Python has no usual folder")
    monkeypatch.setattr("tempfile.tempdir", None)

    outcome = run_python(
        "import json, sys; print(sys.version)", interpreter=describe_interpreter(sys.base_prefix, name)
    )

    assert outcome.stdout.decode().strip() == sys.version.replace("\n", "")


def test_missing_bubblewrap_says_what_to_install(monkeypatch):
    chain.find_bubblewrap.cache_clear()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda *args, **kwargs: None)

    with pytest.raises(SandboxUnavailableError, match=r"Install the locked dependencies again, or .* bubblewrap"):
        chain.find_bubblewrap()

    chain.find_bubblewrap.cache_clear()


def test_forbidden_namespaces_say_how_to_allow_them():
    bwrap, libraries = chain.find_bubblewrap()
    confine = [bwrap, "--unshare-user", "--ro-bind", "/", "/"]
    env = {"LD_LIBRARY_PATH": str(libraries)} if libraries else {}

    refused = subprocess.run(
        [*confine, "--disable-userns", "--", *confine, "--", "true"],
        env=env,
        check=False,
        capture_output=True,
        text=True,
    )
    words = run._explain_setup(refused.stderr.strip(), refused.returncode)

    assert refused.returncode != 0
    assert words.startswith("This machine forbids user namespaces, so untrusted code is not run (bwrap: ")
    assert "sysctl kernel.unprivileged_userns_clone=1" in words


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_seccomp_filter_is_well_formed(machine):
    program = build_filter(machine)

    assert program is not None
    count = len(program) // 8
    assert len(program) == count * 8
    for index in range(count):
        code, on_true, on_false = (
            int.from_bytes(program[index * 8 : index * 8 + 2], "little"),
            *program[index * 8 + 2 : index * 8 + 4],
        )
        assert code in (0x20, 0x15, 0x35, 0x54, 0x06)
        assert index + 1 + max(on_true, on_false) < count or code == 0x06


def test_nothing_runs_on_a_machine_whose_system_calls_are_not_known(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "pdp11")

    with pytest.raises(SandboxUnavailableError, match="known for pdp11, so untrusted code is not run here"):
        run_python("print(1)")


def test_unavailability_is_not_cached(monkeypatch):
    run._try_out.cache_clear()
    monkeypatch.setattr(run, "run_python", Mock(side_effect=SandboxUnavailableError("No memory just now.")))
    short = why_unavailable()
    monkeypatch.undo()

    assert (short, why_unavailable()) == ("No memory just now.", "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's programs are run by another user")
def test_packages_in_a_folder_that_only_root_enters_are_imported_in_the_sandbox(tmp_path, monkeypatch):
    package = tmp_path / "closed" / "reader_kept_apart"
    package.mkdir(parents=True, mode=0o700)
    package.parent.chmod(0o700)
    (package / "__init__.py").write_text("TEXT = 'read'")
    monkeypatch.syspath_prepend(str(package.parent))
    program = tmp_path / "program.py"
    program.write_text(f"import sys; sys.path.append({PACKAGES!r}); import {package.name} as it; print(it.TEXT)")

    assert read_document(program, [package.name], [], b"") == b"read\n"
