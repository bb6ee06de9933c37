"""What hostile code wants of the sandbox that holds it: more than its share, another answer, no end."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from evaluation.grading import script
from evaluation.grading.script import GraderTurn, run_grader
from evaluation.sandbox import (
    SandboxLimits,
    SandboxUnavailableError,
    cgroups,
    run,
    run_python,
    seccomp,
    why_unavailable,
)
from evaluation.sandbox import documents as sandboxed
from evaluation.sandbox.server import prepare_server
from evaluation.sandbox.shell import LIMITS as SHELL_LIMITS
from evaluation.sandbox.shell import run_shell
from studio.files.previews import documents

MIB = 1024 * 1024
CALLED = [{"tool_name": "x", "call": {}, "result": {}}]
SHORT = SandboxLimits(seconds=20)


@pytest.fixture(autouse=True)
def sandbox() -> None:
    if words := why_unavailable():
        pytest.skip(words)


def as_script(program: str) -> str:
    """What it prints there, below ``/ws``."""
    outcome = run_python(program, limits=SHORT)
    return outcome.stdout.decode() + outcome.stderr.decode()


def as_command(program: str) -> str:
    """The same as an agent's command."""
    outcome = run_shell(
        "exec python3 probe.py",
        [("probe.py", program.encode())],
        lambda _: None,
        replace(SHELL_LIMITS, seconds=20),
    )
    return outcome.stdout.decode() + outcome.stderr.decode()


def as_server(program: str) -> str:
    """The same as a tool server's command."""
    with prepare_server(["python3", "/run/program/probe.py"], files={"probe.py": program.encode()}, env={}) as prepared:
        done = subprocess.run(
            prepared.chain.args,
            env=prepared.chain.env,
            pass_fds=prepared.chain.fds,
            cwd="/",
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
    return done.stdout.decode()


everywhere = pytest.mark.parametrize("attacked", [as_script, as_command, as_server])
Attacked = Callable[[str], str]

OPEN_OTHERS = """
import os
opened = []
for pid in os.listdir("/proc"):
    if not pid.isdigit() or int(pid) == os.getpid():
        continue
    for name in ("mem", "environ", "maps", "root", "cwd", "fd", "exe"):
        path = f"/proc/{pid}/{name}"
        try:
            if name == "fd":
                for number in os.listdir(path):
                    os.close(os.open(f"{path}/{number}", os.O_RDWR))
            elif name in ("root", "cwd"):
                os.listdir(path)
            else:
                os.close(os.open(path, os.O_RDWR if name == "mem" else os.O_RDONLY))
            opened.append(path)
        except OSError:
            pass
print("opened", opened)
"""


@everywhere
def test_to_read_or_write_a_process_that_watches_it(attacked: Attacked):
    assert attacked(OPEN_OTHERS) == "opened []\n"


OWN_MEMORY = """
import os
try:
    os.close(os.open("/proc/self/mem", os.O_RDWR))
    print("written")
except OSError as error:
    print(error.strerror)
"""


@everywhere
def test_to_write_anywhere_below_proc(attacked: Attacked):
    assert attacked(OWN_MEMORY) == "Read-only file system\n"


def test_to_find_a_descriptor_in_what_watches_it():
    """The first process has none: neither the caller's nor its own."""
    probe = b"import os; print('up', flush=True); os.read(0, 1)"
    with prepare_server(["python3", "/run/program/probe.py"], files={"probe.py": probe}, env={}) as prepared:
        process = subprocess.Popen(
            prepared.chain.args,
            env=prepared.chain.env,
            pass_fds=prepared.chain.fds,
            cwd="/",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None and process.stdout.readline() == b"up\n"
        held = {pid: os.listdir(f"/proc/{pid}/fd") for pid in run.processes_below(process.pid)}
        process.kill()
        process.communicate()

    [*_, first, _program] = held
    assert held[first] == []


MANY_THREADS = """
import _thread, os, signal, time
for pid in os.listdir("/proc"):
    if pid.isdigit() and int(pid) != os.getpid():
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
            try:
                os.kill(int(pid), number)
            except OSError:
                pass
count = 0
try:
    while count < 3000:
        _thread.start_new_thread(time.sleep, (30,))
        count += 1
except RuntimeError:
    pass
print(count < 64, flush=True)
os._exit(0)
"""


@everywhere
def test_to_have_more_threads_than_its_limit(attacked: Attacked):
    assert attacked(MANY_THREADS) == "True\n"


LIMITS_OF_OTHERS = """
import os, resource
changed = []
for pid in os.listdir("/proc"):
    if pid.isdigit() and int(pid) != os.getpid():
        try:
            resource.prlimit(int(pid), resource.RLIMIT_NOFILE, (0, 0))
            changed.append(pid)
        except OSError:
            pass
resource.prlimit(0, resource.RLIMIT_NOFILE, (9, 9))
print("changed", changed, resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@everywhere
def test_to_change_the_limits_of_what_watches_it(attacked: Attacked):
    assert attacked(LIMITS_OF_OTHERS) == "changed [] (9, 9)\n"


OWN_LIMITS = """
import resource as of
print(*(of.getrlimit(what)[1] for what in (of.RLIMIT_CPU, of.RLIMIT_FSIZE, of.RLIMIT_NOFILE, of.RLIMIT_CORE)))
"""


def test_to_have_longer_larger_or_more_files_than_allowed():
    """The kernel's own limits, of which none can be raised again."""
    script, command = SandboxLimits(seconds=20), replace(SHELL_LIMITS, seconds=20)

    assert as_script(OWN_LIMITS) == f"{script.cpu_seconds} {script.folder} {script.open_files} 0\n"
    assert as_command(OWN_LIMITS) == f"{command.cpu_seconds} {command.folder} {command.open_files} 0\n"


OUT_OF_MEMORY = """
print(open("/proc/self/oom_score_adj").read().strip())
try:
    open("/proc/self/oom_score_adj", "w").write("0")
except OSError:
    pass
print(open("/proc/self/oom_score_adj").read().strip())
"""


@everywhere
def test_to_outlive_others_when_memory_runs_out(attacked: Attacked):
    assert attacked(OUT_OF_MEMORY) == "1000\n1000\n"


SHARED = """
import mmap, os
mapped = []
def share(**how):
    try:
        shared = mmap.mmap(**how)
    except OSError:
        return
    if not os.fork():
        for place in range(0, len(shared), 4096):
            shared[place] = 1
        os._exit(0)
    os.wait()
    mapped.append(shared)
for _ in range(5):
    share(fileno=-1, length=90 << 20)
for _ in range(5):
    share(fileno=os.open("/dev/zero", os.O_RDWR), length=90 << 20)
print(len(mapped), open("/dev/zero", "rb").read(3))
"""


@everywhere
def test_to_hold_shared_memory_that_no_process_is_charged_for(attacked: Attacked):
    assert attacked(SHARED) == "0 b'\\x00\\x00\\x00'\n"


WHAT_IT_IS_GIVEN = """
import os
for grow in (
    lambda: os.write(0, b"more"),
    lambda: os.ftruncate(0, 16 << 20),
    lambda: os.write(os.open("/proc/self/fd/0", os.O_RDWR), b"more"),
):
    try:
        print("grown", grow())
    except OSError as error:
        print(error.strerror)
print(os.fstat(0).st_size, os.read(0, 10))
"""


def test_to_keep_memory_in_what_it_is_given():
    """Its input is a file in memory that counts for no process and no folder."""
    outcome = run_python(WHAT_IT_IS_GIVEN, limits=SHORT, stdin=b"given")

    assert outcome.stdout.decode().splitlines() == ["Operation not permitted"] * 3 + ["5 b'given'"]


TERMINALS = """
import os
for name in ("/dev/ptmx", "/dev/pts/ptmx"):
    try:
        print("opened", os.open(name, os.O_RDWR))
    except OSError as error:
        print(error.strerror)
"""


@everywhere
def test_to_take_the_terminals_of_the_machine(attacked: Attacked):
    """All of a machine share a few thousand, with memory for what nobody reads."""
    assert attacked(TERMINALS) == "No such file or directory\n" * 2


TIMERS = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
started = 0
while started < 5000 and libc.timer_create(0, None, ctypes.byref(ctypes.c_void_p())) == 0:
    started += 1
print(started)
"""


@everywhere
def test_to_keep_memory_in_timers_and_signals_that_wait(attacked: Attacked):
    assert 0 < int(attacked(TIMERS)) <= 1024


def test_to_keep_files_in_pipes_after_they_are_deleted():
    program = """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
read, write = os.pipe()
other, into = os.pipe()
buffer = ctypes.create_string_buffer(4096)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 4096)
file = os.open("/usr/bin/env", os.O_RDONLY)
os.write(write, b"x" * 100)
for name, result in (
    ("splice", libc.splice(file, None, write, None, 4096, 0)),
    ("vmsplice", libc.vmsplice(write, ctypes.byref(vector), 1, 0)),
    ("tee", libc.tee(read, into, 100, 0)),
):
    print(name, result, ctypes.get_errno())
"""
    assert as_script(program).split() == ["splice", "-1", "1", "vmsplice", "-1", "1", "tee", "-1", "1"]


KEPT_BY_THE_KERNEL = """
import ctypes, fcntl, struct
libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.c_uint64(0)
CALLS = %r
ARGUMENTS = {
    "inotify_init1": (0,),
    "fanotify_init": (0x200, 0),
    "landlock_create_ruleset": (None, ctypes.c_size_t(0), 1),
    "io_setup": (8, ctypes.byref(room)),
}
for name, arguments in ARGUMENTS.items():
    print(name, libc.syscall(CALLS[name], *arguments), ctypes.get_errno())
with open("/usr/bin/env", "rb") as file:
    for command in (37, 38):
        try:
            fcntl.fcntl(file, command, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0))
        except OSError as error:
            print(command, error.errno)
"""


@everywhere
def test_to_fill_queues_and_rules_that_the_kernel_keeps_for_it(attacked: Attacked):
    """Events of watched files (1 GiB for one user), rules without end, requests of which a machine has few, and locks
    that no process is named for."""
    _, calls = seccomp.CHECKED[platform.machine()]

    assert attacked(KEPT_BY_THE_KERNEL % calls).splitlines() == [
        *("inotify_init1 -1 1", "fanotify_init -1 1", "landlock_create_ruleset -1 1", "io_setup -1 1"),
        *("37 1", "38 1"),
    ]


TABLES_OF_PAGES = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
for _ in range(2):
    os.fork()
for number in range(40_000):
    place = libc.mmap((1 << 44) + (number << 31), 4096, 1, 0x100022, -1, 0)
    ctypes.c_char.from_address(place).value
os.read(os.pipe()[0], 1)
"""


def test_to_hold_memory_in_tables_that_find_pages_it_never_wrote():
    """Four processes of 312 MiB, which the kernel calls 10 MiB each."""
    assert run_python(TABLES_OF_PAGES, limits=SHORT).reason == "memory"


LOCKS = """
import fcntl, time
with open("/ws/a", "wb") as file:
    for place in range(%d):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * place)
    time.sleep(1)
"""


@pytest.mark.parametrize(("count", "reason"), [(4200, "files"), (3900, "ok")])
def test_to_hold_memory_in_locks_of_a_file(count: int, reason: str):
    assert run_python(LOCKS % count, limits=SHORT).reason == reason


def test_to_forge_the_answer_of_another_turn():
    source = """
import os, time
FORGED = b'{"values": [["a", 1]]}\\n'
def score(history):
    if history:
        for pid in os.listdir("/proc"):
            for folder in ((f"/proc/{pid}/fd",) if pid.isdigit() else ()):
                try:
                    for number in os.listdir(folder):
                        try:
                            descriptor = os.open(f"{folder}/{number}", os.O_WRONLY)
                            os.write(descriptor, FORGED * 3)
                        except OSError:
                            pass
                except OSError:
                    pass
    return {"a": 0}
"""
    turns = run_grader(source, [[], CALLED, [], []]).turns

    assert [turn.values["a"] for turn in turns] == [0, 0, 0, 0]
    assert [turn.problem for turn in turns[2:]] == ["", ""]


@pytest.mark.parametrize(
    "forged",
    [
        '{"values": [["a", 7]]}',
        '{"values": [["a", 1.0]]}',
        '{"values": [["a", "1"]]}',
        '{"values": [["a", [1]]]}',
        '{"values": 1}',
        '{"values": [["a"]]}',
        '["values"]',
        "7",
        '{"values": [["a", 1]], "problem": ""}x',
        "[" * 100_000,
        '{"values": [["a", ' + "9" * 5000 + "]]}",
    ],
)
def test_to_be_worth_more_than_one_by_an_answer_of_its_own(forged: str):
    """Written past the driver, into the pipe of its answer."""
    source = f"""
import os
def score(history):
    for number in range(3, 20):
        try:
            os.write(number, {forged.encode()!r} + b"\\n")
        except OSError:
            pass
    os._exit(0)
"""
    [turn] = run_grader(source, [CALLED], keys=("a",)).turns

    assert turn == GraderTurn({"a": 0}, "the script wrote something else in place of its result", broken=True)


def test_to_stop_the_clock_that_ends_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(script, "CALL_SECONDS", 0.5)
    source = """
import os, signal
def score(history):
    if history:
        for pid in (os.getppid(), -1, 1):
            try:
                os.kill(pid, signal.SIGSTOP)
            except OSError:
                pass
        while True:
            pass
    return {"a": 0}
"""
    started = time.monotonic()
    turns = run_grader(source, [CALLED, CALLED, [], CALLED]).turns

    assert time.monotonic() - started < 5
    assert [turn.broken for turn in turns] == [True, True, False, True]
    assert turns[2] == GraderTurn({"a": 0})


def test_to_leave_something_for_the_next_turn():
    source = """
import os, signal
def score(history):
    old = os.path.exists("/ws/left")
    open("/ws/left", "w").close()
    if not os.fork():
        os.setsid()
        signal.pause()
    others = sum(name.isdigit() for name in os.listdir("/proc")) > 3
    return {"old": old, "others": others}
"""
    assert [dict(turn.values) for turn in run_grader(source, [[], CALLED]).turns] == [{"old": 0, "others": 0}] * 2


@pytest.mark.parametrize("machine", ["pdp11", "armv7l"])
def test_to_run_where_its_system_calls_are_not_known(machine: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("platform.machine", lambda: machine)
    run._try_out.cache_clear()

    assert why_unavailable().startswith(f"No filter of system calls is known for {machine}")
    with pytest.raises(SandboxUnavailableError, match="untrusted code is not run here"):
        run_python("print(1)")

    monkeypatch.undo()
    assert why_unavailable() == ""


def test_to_be_run_where_what_watches_it_cannot_be_protected(monkeypatch: pytest.MonkeyPatch):
    assert run.LAUNCHER.count("prctl(4, 0, 0, 0, 0) != 0") == 1
    monkeypatch.setattr(
        run, "LAUNCHER", run.LAUNCHER.replace("prctl(4, 0, 0, 0, 0) != 0", "prctl(99, 0, 0, 0, 0) != 0")
    )

    with pytest.raises(SandboxUnavailableError, match=r"not run \(the first process cannot be protected\)"):
        run_python("print(1)")


FILL_SOCKETS = """
import resource, socket, time
pairs = []
try:
    while True:
        pairs.append(socket.socketpair())
except OSError:
    pass
try:
    pairs[0][0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    print("larger")
except OSError:
    pass
held = 0
for pair in pairs:
    for end in pair:
        end.setblocking(False)
        try:
            while True:
                held += end.send(b"x" * 4096)
        except BlockingIOError:
            pass
print(len(pairs), held, flush=True)
time.sleep(60)
"""


def test_to_keep_memory_in_sockets():
    files = {"probe.py": FILL_SOCKETS.encode()}
    with prepare_server(["python3", "/run/program/probe.py"], files=files, env={}) as prepared:
        process = subprocess.Popen(
            prepared.chain.args,
            env=prepared.chain.env,
            pass_fds=prepared.chain.fds,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        try:
            assert process.stdout is not None
            count, held = map(int, process.stdout.readline().split())
            charged = run.held_bytes(process.pid)
        finally:
            process.kill()
            process.communicate()

    assert count > 100
    assert charged > held > 5 * MIB


@pytest.mark.minutes
def test_to_take_the_time_of_others_that_run_at_once():
    """Sixteen at once, every other one hostile: honest ones are graded as if alone."""
    honest = "def score(history): return {'a': 1}"
    greedy = "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"
    found: dict[int, GraderTurn] = {}

    def grade(number: int) -> None:
        found[number] = run_grader(greedy if number % 2 else honest, [CALLED], keys=("a",)).turns[0]

    threads = [threading.Thread(target=grade, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [found[number] for number in range(0, 16, 2)] == [GraderTurn({"a": 1})] * 8
    assert all(found[number].broken for number in range(1, 16, 2))


def test_to_reach_the_studio_through_the_parser_of_a_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A parser that does what its document says, read as the studio reads every document."""
    program = tmp_path / "extract.py"
    program.write_text("import json, os, sys; print(json.dumps({'seen': os.path.exists(sys.stdin.read())}))")
    monkeypatch.setattr(documents, "EXTRACT", program)

    seen = [documents.extract("pdf", path.encode())["seen"] for path in (str(program), "/etc/passwd", "/ws")]

    assert seen == [False, False, True]


def test_a_document_is_not_read_otherwise_when_the_sandbox_fails_under_it(monkeypatch: pytest.MonkeyPatch):
    def fails(*_: object, **__: object) -> None:
        raise SandboxUnavailableError("No memory just now.")

    monkeypatch.setattr(sandboxed, "run_python", fails)

    with pytest.raises(documents.UnreadableDocumentError):
        documents.extract("mail", b"Subject: Rye\r\n\r\n")


def test_documents_are_read_the_same_in_the_sandbox_and_without():
    mail = b"From: ana@example.org\r\nSubject: Rye\r\n\r\nFirst.\r\n"
    apart = documents.read_apart(documents.EXTRACT, documents.PACKAGES, ["mail"], mail)

    assert documents.extract("mail", mail) == json.loads(apart)


HELD_BY_NO_PROCESS = """
import os
read, write = os.pipe()
os.write(write, b"x" * 60_000)
for _ in range(8):
    if not os.fork():
        held = bytearray(90 << 20)
        os.read(os.pipe()[0], 1)
os.read(os.pipe()[0], 1)
"""


def test_to_hold_more_memory_than_the_kernel_counts():
    """On a machine that delegates a cgroup: ``systemd-run --user --pipe -p Delegate=memory make test …``."""
    place = cgroups.delegated()
    if place is None:
        pytest.skip("no cgroup with memory is delegated here, so memory is looked at from outside")

    outcome = run_python(HELD_BY_NO_PROCESS, limits=replace(SHORT, seconds=120))

    assert outcome.reason == "memory"
    assert not list(place.glob("sandbox-*"))


def test_to_run_where_a_delegated_cgroup_cannot_limit_its_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cgroups, "delegated", lambda: tmp_path / "gone")

    with pytest.raises(SandboxUnavailableError, match="memory cannot be limited"):
        run_python("print(1)")


def test_a_cgroup_that_nobody_delegated_is_left_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cgroups, "MOUNT", tmp_path)

    assert cgroups.delegated.__wrapped__() is None
    assert list(tmp_path.iterdir()) == []


REFUSED = {
    *("memfd_create", "memfd_secret", "shmget", "shmat", "msgget", "semget", "mq_open", "splice", "tee", "vmsplice"),
    *("userfaultfd", "io_uring_setup", "bpf", "perf_event_open", "add_key", "request_key", "keyctl"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "socket", "socketpair", "setsockopt", "mmap", "prlimit64"),
    *("mount", "umount2", "pivot_root", "unshare", "setns", "open_by_handle_at", "fsopen", "move_mount", "open_tree"),
    *("kexec_load", "init_module", "finit_module", "fcntl"),
    *("inotify_init1", "fanotify_init", "landlock_create_ruleset", "io_setup"),
}
"""Some of them a machine refuses by itself, so that only the list tells."""


@pytest.mark.parametrize("machine", seccomp.CHECKED)
def test_to_use_a_call_that_hides_memory_or_leads_out(machine: str):
    _, calls = seccomp.CHECKED[machine]

    assert calls.keys() - {"inotify_init"} == REFUSED
    assert ("inotify_init" in calls) == (machine == "x86_64")
    assert len(set(calls.values())) == len(calls)
