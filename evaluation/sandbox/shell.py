"""A command of an agent over a copy of its workspace.

The copy lives in memory, inside, with a limit on bytes and files; the caller gets a view of it once every process has
ended. So nothing that the command leaves (links, pipes, a full disk, a process of its own) meets the real files.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from evaluation.sandbox.chain import PROGRAM, Layout, build_chain
from evaluation.sandbox.interpreter import find_interpreter, readable_by_all
from evaluation.sandbox.limits import MIB, SandboxLimits, SandboxResult
from evaluation.sandbox.packages import built_packages
from evaluation.sandbox.run import CONFINE, HAND_OVER, Look, run_chain
from evaluation.sandbox.told_time import environment, programs, seconds

HOME = "/home"
WORKSPACE = f"{HOME}/workspace"
PACKAGES = "/opt/packages"
COMMANDS = "/opt/bin"
LIMITS = SandboxLimits(
    seconds=120,
    cpu_seconds=120,
    memory=1536 * MIB,
    output=1 * MIB,
    folder=192 * MIB,
    files=12_000,
    processes=64,
    open_files=256,
)
MAX_COMMAND = 100_000
"""Bytes; Linux takes 128 KiB as one argument."""

# Runs first, inside: see evaluation.sandbox.run. Then unpacks the workspace and becomes the shell.
LAUNCHER = f"""{CONFINE}
for name in ("workspace", "user", "tmp"):
    os.mkdir("/home/" + name)
with open(%d, "rb") as archive:
    while head := archive.readline():
        size, name = head[:-1].split(b" ", 1)
        path = b"/home/workspace/" + bytes.fromhex(name.decode())
        if size == b"/":
            os.makedirs(path, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        content = archive.read(int(size))
        with open(path, "wb") as file:
            file.write(content)
        if content[:2] == b"#!":
            os.chmod(path, 0o755)
fonts = "/opt/packages/.fonts"
if os.path.isdir(fonts):
    os.makedirs("/home/user/.cache/matplotlib")
    for name in os.listdir(fonts):
        os.symlink(fonts + "/" + name, "/home/user/.cache/matplotlib/" + name)
moment = %r
if moment is not None:
    for root, _, names in os.walk("/home"):
        for name in (*names, "."):
            os.utime(os.path.join(root, name), (moment, moment), follow_symlinks=False)
{HAND_OVER}
os.chdir("/home/workspace")
os.environ.update(%r)
shell = "/bin/bash" if os.access("/bin/bash", os.X_OK) else "/bin/sh"
os.execv(shell, [shell, "-c", sys.argv[1]])
"""


@dataclass(frozen=True)
class Outside:
    """What a command has besides its workspace."""

    sockets: tuple[tuple[Path, str], ...] = ()
    """Of the host, and where they appear."""
    env: tuple[tuple[str, str], ...] = ()
    packages: Path | None = None
    """Instead of those for agents' code."""
    stop: threading.Event | None = None
    """Ends the run when set."""
    now: datetime | None = None
    """What time programs are told; None: the machine's."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Below ``/run/program``, read-only."""


Entry = tuple[str, bytes | None]
"""Path in the workspace, and content; None for a folder."""


def run_shell(
    command: str,
    entries: Iterable[Entry],
    then: Callable[[Path], None],
    limits: SandboxLimits = LIMITS,
    *,
    stdin: bytes = b"",
    look: Look | None = None,
    outside: Outside | None = None,
) -> SandboxResult:
    """Run ``command`` in a folder with ``entries``. ``then`` gets the folder as it was left, hostile
    contents and all: it must follow no link. ``look`` gets what it printed while it runs. ``outside`` is what else it
    may have.

    Raises SandboxUnavailableError.
    """
    outside = outside or Outside()
    interpreter = find_interpreter()
    packages = outside.packages or built_packages()
    told = programs(outside.now) if outside.now else {}
    layout = Layout(
        folder=HOME,
        temporary=f"{HOME}/tmp",
        path=f"{COMMANDS}:{os.path.dirname(interpreter.program)}:/usr/bin:/bin",
        env=(*_environment(packages is not None), *outside.env),
        sockets=outside.sockets,
        folders=((readable_by_all(packages), PACKAGES),) if packages else (),
        links=(
            (interpreter.program, f"{COMMANDS}/python"),
            (interpreter.program, f"{COMMANDS}/python3"),
            *((f"{PROGRAM}/{name}", f"{COMMANDS}/{name}") for name in told),
        ),
    )

    def end(folder: int) -> None:
        then(Path(f"/proc/self/fd/{folder}/workspace"))

    ours, inside = socket.socketpair()
    with ours, inside, build_chain({**outside.files, **told}, limits, interpreter, layout) as chain:
        archive = chain.open_data("workspace", b"".join(_pack(entries)))
        moment, env = (seconds(outside.now), environment(outside.now)) if outside.now else (None, {})
        launcher = LAUNCHER % (limits.processes, limits.processes, archive, moment, HOME, inside.fileno(), env)
        chain.launch(launcher, command, handover=inside)
        return run_chain(chain, stdin, limits, ours, end, look, outside.stop)


def _environment(with_packages: bool) -> tuple[tuple[str, str], ...]:
    given = {
        "HOME": f"{HOME}/user",
        "TMPDIR": "/tmp",
        "TERM": "dumb",
        "MPLBACKEND": "Agg",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
    }
    return tuple((given | ({"PYTHONPATH": PACKAGES} if with_packages else {})).items())


def _pack(entries: Iterable[Entry]) -> Iterable[bytes]:
    for path, content in entries:
        yield f"{'/' if content is None else len(content)} {path.encode().hex()}\n".encode()
        if content is not None:
            yield content
