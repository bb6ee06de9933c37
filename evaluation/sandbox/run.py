"""Start a confined program, watch it, and say how it ended."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time
from functools import cache
from pathlib import Path
from typing import IO

from evaluation.sandbox.chain import PROGRAM, Chain, SandboxUnavailableError, build_chain
from evaluation.sandbox.interpreter import Interpreter, find_interpreter
from evaluation.sandbox.limits import Reason, SandboxLimits, SandboxResult

STUDIO = Path(__file__).resolve().parents[2]
TICK = 0.05
"""Seconds between two looks at the memory in use."""

# Runs first, inside. Limits the processes of this sandbox alone (outside, the same limit would count
# everything else the user runs), and closes what was inherited.
LAUNCHER = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NPROC, (%d, %d))
os.closerange(3, 1 << 20)
path = sys.argv[0] = sys.argv[1]
del sys.argv[1]
with open(path, "rb") as file:
    code = compile(file.read(), path, "exec")
del file, os, resource, sys
exec(code)
"""


def run_python(
    code: str | dict[str, bytes],
    *,
    args: tuple[str, ...] = (),
    stdin: bytes = b"",
    limits: SandboxLimits | None = None,
    interpreter: Interpreter | None = None,
) -> SandboxResult:
    """Run a program, its text or its files of which ``main.py`` starts, and wait for its end.

    Only the standard library can be imported. Raises SandboxUnavailableError if nothing could be run.
    """
    limits = limits or SandboxLimits()
    files = {"main.py": code.encode()} if isinstance(code, str) else code
    for name in files:
        if not name or "/" in name or name.startswith("."):
            raise ValueError(f"{name!r} is not a plain file name")
    launcher = LAUNCHER % (limits.processes, limits.processes)
    argv = ["-I", "-S", "-B", "-X", "utf8", "-c", launcher, f"{PROGRAM}/main.py", *args]
    chain = build_chain(
        argv, files=files, limits=limits, hidden=_hidden_folders(), interpreter=interpreter or find_interpreter()
    )
    return _run(chain, stdin, limits)


def why_unavailable() -> str:
    """Why no foreign code can run here now; empty: it can. What could run once is not tried again."""
    try:
        _try_out()
    except SandboxUnavailableError as exc:
        return str(exc)
    return ""


@cache
def _try_out() -> None:
    """A success is remembered, a failure is not: it may have been a moment's shortage."""
    limits = SandboxLimits(seconds=20)
    outcome = run_python("print(1)", limits=limits)
    if outcome.stdout != b"1\n":
        raise SandboxUnavailableError(f"A trial program did not run. {outcome.explain(limits)}")


def _hidden_folders() -> list[str]:
    folders = {str(STUDIO)}
    if data := os.environ.get("STUDIO_DATA_DIR"):
        folders.add(os.path.realpath(data))
    return sorted(folders)


def _run(chain: Chain, stdin: bytes, limits: SandboxLimits) -> SandboxResult:
    status_read, status_write = os.pipe()
    started = time.monotonic()
    try:
        bwrap = next(index for index, arg in enumerate(chain.args) if arg.startswith("/proc/self/fd/"))
        chain.args[bwrap + 1 : bwrap + 1] = ["--json-status-fd", str(status_write)]
        process = subprocess.Popen(
            chain.args,
            stdin=chain.open_data("stdin", stdin),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=chain.env,
            cwd="/",
            pass_fds=(*chain.fds, status_write),
        )
    except BaseException:
        os.close(status_read)
        raise
    finally:
        os.close(status_write)
        chain.close()
    try:
        with process:
            stdout, stderr, stopped = _watch(process, started + limits.seconds, limits)
        with os.fdopen(status_read, "rb", closefd=False) as file:
            status = file.read(65536)
    finally:
        os.close(status_read)
    seconds = time.monotonic() - started
    if stopped is not None:
        return SandboxResult(stdout, stderr, None, stopped, seconds)
    code = _exit_code(status)
    if code is None:
        raise SandboxUnavailableError(_explain_setup(stderr.decode("utf-8", "replace").strip(), process.returncode))
    reason: Reason = "ok" if code == 0 else "killed" if code > 128 else "crash"
    if reason == "crash" and stderr.rstrip().endswith(b"MemoryError"):
        reason = "memory"
    return SandboxResult(stdout, stderr, code, reason, seconds)


def _watch(
    process: subprocess.Popen[bytes], deadline: float, limits: SandboxLimits
) -> tuple[bytes, bytes, Reason | None]:
    """Collect both outputs until the program ends or is stopped; then also the reason for stopping it."""
    assert process.stdout is not None and process.stderr is not None
    kept: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    stopped: Reason | None = None
    looked = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            os.set_blocking(stream.fileno(), False)
            selector.register(stream, selectors.EVENT_READ)
        while stopped is None:
            if selector.get_map():
                for key, _ in selector.select(TICK):
                    stream: IO[bytes] = key.fileobj  # type: ignore[no-redef]
                    data = os.read(stream.fileno(), 65536)
                    if not data:
                        selector.unregister(stream)
                    kept[stream] += data
                    if len(kept[stream]) > limits.output:
                        del kept[stream][limits.output :]
                        stopped = "output"
            else:
                try:
                    process.wait(TICK)
                except subprocess.TimeoutExpired:
                    pass
                else:
                    break
            now = time.monotonic()
            if now > deadline:
                stopped = stopped or "timeout"
            elif now - looked > TICK:
                looked = now
                if _resident_bytes(process.pid) > limits.memory:
                    stopped = stopped or "memory"
    if stopped is not None:
        process.kill()
        process.wait()
    return bytes(kept[process.stdout]), bytes(kept[process.stderr]), stopped


def _resident_bytes(pid: int) -> int:
    """Memory that a process and all it has started hold; what is shared counts for each."""
    total, waiting, page = 0, [pid], os.sysconf("SC_PAGE_SIZE")
    while waiting:
        one = waiting.pop()
        try:
            with open(f"/proc/{one}/statm") as file:
                total += int(file.read().split()[1]) * page
            for thread in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{thread}/children") as file:
                    waiting += map(int, file.read().split())
        except (OSError, IndexError, ValueError):
            continue  # it has just ended
    return total


def _exit_code(status: bytes) -> int | None:
    """The exit status in bubblewrap's report; None: the program was never started."""
    for line in status.splitlines():
        try:
            report = json.loads(line)
        except ValueError:
            continue
        if isinstance(report, dict) and isinstance(report.get("exit-code"), int):
            return int(report["exit-code"])
    return None


def _explain_setup(words: str, returncode: int) -> str:
    said = words.splitlines()[-1][:300] if words else f"status {returncode}"
    forbidden = ("namespace", "uid map", "gid map", "Operation not permitted", "Permission denied")
    if any(sign in words for sign in forbidden):
        return (
            f"This machine forbids user namespaces, so untrusted code is not run ({said}). Allow them: "
            "sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0; "
            "in a container, a security profile that lets processes create user namespaces."
        )
    return f"The sandbox could not be set up, so untrusted code is not run ({said})."
