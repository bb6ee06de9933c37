"""A program that stays: a tool server's command, confined like everything else, spoken to over its standard streams."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from evaluation.sandbox.cgroups import MemoryGroup, memory_group
from evaluation.sandbox.chain import ConfinedCommand, Layout, build_chain
from evaluation.sandbox.interpreter import find_interpreter, readable_by_all
from evaluation.sandbox.limits import MIB, SandboxLimits
from evaluation.sandbox.run import CONFINE, HAND_OVER, files_in, held_bytes

FOLDER = "/home"
PROGRAMS = "/opt/mcp"
ENVIRONMENT = (
    ("HOME", FOLDER),
    ("TMPDIR", FOLDER),
    ("PYTHONPATH", PROGRAMS),
    ("NODE_PATH", f"{PROGRAMS}/node_modules"),
    ("PYTHONUNBUFFERED", "1"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
)
"""What ``pip install --target`` and ``npm install --prefix`` put into the folder of programs is found."""
LIMITS = SandboxLimits(
    cpu_seconds=300,
    memory=1024 * MIB,
    address_space=4096 * MIB,
    folder=64 * MIB,
    files=4_000,
    processes=24,
    open_files=256,
)

# Runs first, inside: see evaluation.sandbox.run. Variables come through a descriptor, since every user of the machine
# can read a command line.
LAUNCHER = f"""{CONFINE}
with open(%d, "rb") as file:
    import json
    os.environ.update(json.loads(file.read()))
{HAND_OVER}
try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as error:
    sys.exit(f"{{sys.argv[1]}}: {{error.strerror}}")
"""


@dataclass
class Prepared:
    """A command that is about to start. ``chain`` is closed once it has."""

    chain: ConfinedCommand
    _handover: socket.socket
    _group: MemoryGroup | None
    _folder: int = -1

    def excess(self, pid: int) -> str:
        """Which limit it has passed; empty for none. Also of one that has just ended."""
        if self._group.exceeded() if self._group else held_bytes(pid) > LIMITS.memory:
            return f"it used more than {LIMITS.memory // MIB} MiB of memory"
        if self._folder < 0:
            try:
                self._folder = next(iter(socket.recv_fds(self._handover, 1, 1, socket.MSG_DONTWAIT)[1]), -1)
            except OSError:
                return ""
        if self._folder >= 0 and files_in(self._folder) > LIMITS.files:
            return f"it made more than {LIMITS.files:,} files"
        return ""

    def close(self) -> None:
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1


@contextmanager
def prepare_server(
    command: Sequence[str],
    *,
    files: Mapping[str, bytes],
    env: Mapping[str, str],
    programs: Path | None = None,
) -> Iterator[Prepared]:
    """``files`` appear below ``/run/program``, ``programs`` as ``/opt/mcp``, both read-only. There is no network.

    Raises SandboxUnavailableError.
    """
    outside, inside = socket.socketpair()
    with ExitStack() as opened:
        opened.enter_context(outside)
        group = opened.enter_context(memory_group(LIMITS))
        opened.enter_context(inside)
        interpreter = find_interpreter()
        layout = Layout(
            folder=FOLDER,
            temporary=FOLDER,
            path=f"{os.path.dirname(interpreter.program)}:/usr/bin:/bin:{PROGRAMS}/bin:{PROGRAMS}/node_modules/.bin",
            env=ENVIRONMENT,
            folders=((readable_by_all(programs), PROGRAMS),) if programs else (),
            socket_pairs=True,
        )
        chain = opened.enter_context(build_chain(files, LIMITS, interpreter, layout))
        prepared = Prepared(chain, outside, group)
        opened.callback(prepared.close)
        variables = chain.open_data("environment", json.dumps(dict(env)).encode())
        launcher = LAUNCHER % (LIMITS.processes, LIMITS.processes, variables, FOLDER, inside.fileno())
        chain.launch(launcher, *command, handover=inside)
        chain.args[:0] = group.join if group else ()
        yield prepared
