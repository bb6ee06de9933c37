"""Start a confined program, watch it and report how it ended."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import IO, cast

from evaluation.sandbox.cgroups import MemoryGroup, delegated, memory_group
from evaluation.sandbox.chain import FOLDER, PROGRAM, ConfinedCommand, Layout, SandboxUnavailableError, build_chain
from evaluation.sandbox.interpreter import Interpreter, find_interpreter
from evaluation.sandbox.limits import Reason, SandboxLimits, SandboxResult

TICK = 0.05
"""Seconds between two checks of the memory in use."""
TELL_SECONDS = 1.0
"""Between two looks at what a program has printed so far."""
BUFFERS = {"pipe": 64 * 1024, "socket": 256 * 1024}
"""Bytes of the kernel's memory behind one of them: by default, and the filter lets no socket have more."""
HELD = ("VmRSS:", "VmSwap:", "VmPTE:")
"""What counts of a process, in its status: pages in memory and swapped out, and the tables that find them."""
Look = Callable[[bytes, bytes], None]
"""Gets both outputs so far."""

SETUP_SECONDS = 60.0
"""For all that has to stand before foreign code starts; its own time is counted from there."""

# Runs first, inside, as the first process. Limits the processes of this sandbox alone, and its timers and signals that
# wait (outside, the same limits would count everything else the user runs).
CONFINE = """
import ctypes, os, resource, sys, _signal, _socket
resource.setrlimit(resource.RLIMIT_NPROC, (%d, %d))
resource.setrlimit(resource.RLIMIT_SIGPENDING, (1024, 1024))
"""
# Runs when all else is ready, and says so by handing out a view of the writable folder, in which files are counted from
# outside. What follows is run by a child. The first process stays to bury the dead; its end ends them all, no signal
# from inside reaches it, nobody can open it (prctl(PR_SET_DUMPABLE, 0)), and it holds no descriptor.
HAND_OVER = """
prctl = ctypes.CDLL(None).prctl
if os.getpid() != 1 or prctl(4, 0, 0, 0, 0) != 0:
    sys.exit("the first process cannot be protected")
folder = os.open(%r, os.O_RDONLY | os.O_DIRECTORY)
rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, folder.to_bytes(4, sys.byteorder))
_socket.socket(fileno=%d).sendmsg([b"."], [rights])
os.closerange(3, 1 << 20)
if child := os.fork():
    os.closerange(0, 3)
    _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
    ended = None
    while ended != child:
        ended, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
prctl(4, 1, 0, 0, 0)
"""
LAUNCHER = f"""{CONFINE}{HAND_OVER}
path = sys.argv[0] = sys.argv[1]
del sys.argv[1]
with open(path, "rb") as file:
    code = compile(file.read(), path, "exec")
del file, folder, rights, child, prctl, ctypes, os, resource, sys, _signal, _socket
exec(code)
"""


def run_python(
    code: str | dict[str, bytes],
    *,
    args: tuple[str, ...] = (),
    stdin: bytes = b"",
    limits: SandboxLimits | None = None,
    interpreter: Interpreter | None = None,
    folders: tuple[tuple[Path, str], ...] = (),
) -> SandboxResult:
    """Run a program and wait for its end. ``code`` is its text, or its files, of which ``main.py`` is run. ``folders``
    of the host appear where each says, read-only.

    Only the standard library can be imported. Raises SandboxUnavailableError if nothing could be run.
    """
    limits = limits or SandboxLimits()
    files = {"main.py": code.encode()} if isinstance(code, str) else code
    for name in files:
        if not name or "/" in name or name.startswith("."):
            raise ValueError(f"{name!r} is not a plain file name")
    outside, inside = socket.socketpair()
    interpreter = interpreter or find_interpreter()
    with outside, inside, build_chain(files, limits, interpreter, Layout(folders=folders)) as chain:
        launcher = LAUNCHER % (limits.processes, limits.processes, FOLDER, inside.fileno())
        chain.launch(launcher, f"{PROGRAM}/main.py", *args, handover=inside)
        return run_chain(chain, stdin, limits, outside)


def why_unavailable() -> str:
    """Why untrusted code cannot run on this machine now; empty: it can. Failures, which may pass, are not cached."""
    try:
        _try_out()
    except SandboxUnavailableError as exc:
        return str(exc)
    return ""


def kernel_bounds_memory() -> bool:
    """Whether it does in this process; else memory is looked at from outside."""
    return delegated() is not None


@cache
def _try_out() -> None:
    limits = SandboxLimits(seconds=20)
    outcome = run_python("print(1)", limits=limits)
    if outcome.stdout != b"1\n":
        raise SandboxUnavailableError(f"A trial program did not run. {outcome.explain(limits)}")


def run_chain(
    chain: ConfinedCommand,
    stdin: bytes,
    limits: SandboxLimits,
    handover: socket.socket,
    then: Callable[[int], None] | None = None,
    look: Look | None = None,
    stop: threading.Event | None = None,
) -> SandboxResult:
    """``handover`` receives the writable folder from inside. ``then`` gets it when every process has ended. ``look``
    gets what it printed while it runs. Setting ``stop`` ends the run like a limit.

    Raises SandboxUnavailableError.
    """
    with ExitStack() as opened:
        group = opened.enter_context(memory_group(limits))
        status_read, status_write = os.pipe()
        opened.callback(os.close, status_read)
        started = time.monotonic()
        try:
            bwrap = next(index for index, arg in enumerate(chain.args) if arg.startswith("/proc/self/fd/"))
            chain.args[bwrap + 1 : bwrap + 1] = ["--json-status-fd", str(status_write)]
            process = subprocess.Popen(
                [*(group.join if group else ()), *chain.args],
                stdin=chain.open_data("stdin", stdin),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=chain.env,
                cwd="/",
                pass_fds=(*chain.fds, status_write),
            )
        finally:
            os.close(status_write)
            chain.close()
        with process:
            folders: list[int] = []
            opened.callback(_close_all, folders)
            try:
                stdout, stderr, stopped = _watch(process, limits, handover, folders, look, stop, group)
            except BaseException:
                process.kill()
                raise
        with os.fdopen(status_read, "rb", closefd=False) as file:
            status = file.read(65536)
        if then is not None and folders:
            _wait_for_end(status)
            then(folders[0])
    seconds = time.monotonic() - started
    if stopped is not None and folders:
        return SandboxResult(stdout, stderr, None, stopped, seconds)
    code = _exit_code(status)
    if code is None or not folders:
        raise SandboxUnavailableError(_explain_setup(stderr.decode("utf-8", "replace").strip(), process.returncode))
    reason: Reason = "ok" if code == 0 else "killed" if code > 128 else "crash"
    if reason == "crash" and stderr.rstrip().endswith(b"MemoryError"):
        reason = "memory"
    return SandboxResult(stdout, stderr, code, reason, seconds)


def _watch(
    process: subprocess.Popen[bytes],
    limits: SandboxLimits,
    handover: socket.socket,
    folders: list[int],
    look: Look | None,
    stop: threading.Event | None,
    group: MemoryGroup | None,
) -> tuple[bytes, bytes, Reason | None]:
    """Collect both outputs until the program ends or is stopped; then also the reason for stopping it. The writable
    folder is added to ``folders``, which the caller closes."""
    assert process.stdout is not None and process.stderr is not None
    outputs: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    stopped: Reason | None = None
    checked_at = told_at = time.monotonic()
    deadline = checked_at + SETUP_SECONDS
    told = 0
    with selectors.DefaultSelector() as selector:
        for stream in outputs:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        selector.register(handover, selectors.EVENT_READ)
        while stopped is None:
            if selector.get_map():
                for key, _ in selector.select(TICK):
                    if key.fileobj is handover:
                        selector.unregister(handover)
                        folders += socket.recv_fds(handover, 1, 1)[1]
                        deadline = time.monotonic() + limits.seconds
                        continue
                    output = cast("IO[bytes]", key.fileobj)
                    data = os.read(output.fileno(), 65536)
                    if not data:
                        selector.unregister(output)
                    outputs[output] += data
                    if len(outputs[output]) > limits.output:
                        del outputs[output][limits.output :]
                        stopped = "output"
            else:
                try:
                    process.wait(TICK)
                except subprocess.TimeoutExpired:
                    pass
                else:
                    break
            now = time.monotonic()
            if look is not None and now - told_at > TELL_SECONDS:
                told_at, printed = now, sum(map(len, outputs.values()))
                if printed != told:
                    told = printed
                    look(bytes(outputs[process.stdout]), bytes(outputs[process.stderr]))
            if now > deadline or (stop is not None and stop.is_set()):
                stopped = stopped or "timeout"
            elif now - checked_at > TICK:
                checked_at = now
                if group is None and held_bytes(process.pid) > limits.memory:
                    stopped = stopped or "memory"
                elif folders and files_in(folders[0]) + locks_of(process.pid) > limits.files:
                    stopped = stopped or "files"
    if group is not None and group.exceeded():
        stopped = stopped or "memory"
    if stopped is not None:
        process.kill()
        process.wait()
    return bytes(outputs[process.stdout]), bytes(outputs[process.stderr]), stopped


def held_bytes(pid: int) -> int:
    """Memory of a process and all its descendants, in which what is shared counts once for each, with their tables of
    pages and what the pipes and sockets can hold that they have open."""
    total = 0
    buffers: set[str] = set()
    for current in processes_below(pid):
        with contextlib.suppress(OSError):  # it has just ended
            with open(f"/proc/{current}/status") as file:
                total += sum(int(line.split()[1]) * 1024 for line in file if line.startswith(HELD))
            for thread in os.listdir(f"/proc/{current}/task"):
                buffers.update(_open_in(f"/proc/{current}/task/{thread}/fd"))
    return total + sum(BUFFERS.get(name.partition(":")[0], 0) for name in buffers)


def locks_of(pid: int) -> int:
    """Locks on parts of files that a process and its descendants hold or wait for: the kernel's memory, too."""
    holders = set(map(str, processes_below(pid)))
    with open("/proc/locks") as file:
        return sum(line.replace(" -> ", " ").split()[4] in holders for line in file)


def processes_below(pid: int) -> Iterator[int]:
    """The process and its descendants, as they are just now."""
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        yield current
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{current}/task"):
                with open(f"/proc/{current}/task/{thread}/children") as file:
                    waiting += map(int, file.read().split())


def _open_in(folder: str) -> Iterator[str]:
    """What the descriptors lead to."""
    for descriptor in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):  # just closed
            yield os.readlink(f"{folder}/{descriptor}")


def files_in(folder: int) -> int:
    """Files, folders, links and extended attributes in a file system in memory, as the kernel counts them."""
    system = os.statvfs(folder)
    return system.f_files - system.f_ffree


def _close_all(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _wait_for_end(status: bytes) -> None:
    """Until the sandbox's first process is gone, and with it all the others. Killed, that takes no time to speak of."""
    pid = _report(status, "child-pid")
    deadline = time.monotonic() + 5
    while pid is not None and _runs(pid):
        if time.monotonic() > deadline:
            raise SandboxUnavailableError("A program in the sandbox did not end when it was killed.")
        time.sleep(0.002)


def _runs(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def _exit_code(status: bytes) -> int | None:
    """The exit status in bubblewrap's report; None: the program was never started."""
    return _report(status, "exit-code")


def _report(status: bytes, key: str) -> int | None:
    for line in status.splitlines():
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if isinstance(report, dict) and isinstance(report.get(key), int):
            return int(report[key])
    return None


def _explain_setup(message: str, returncode: int) -> str:
    detail = message.splitlines()[-1][:300] if message else f"status {returncode}"
    forbidden = ("namespace", "uid map", "gid map", "Operation not permitted", "Permission denied")
    if any(sign in message for sign in forbidden):
        return (
            f"This machine forbids user namespaces, so untrusted code is not run ({detail}). Allow them: "
            "sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0; "
            "in a container, a security profile that lets processes create user namespaces."
        )
    return f"The sandbox could not be set up, so untrusted code is not run ({detail})."
