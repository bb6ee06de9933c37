"""An agent's own program, run in the sandbox over the session's workspace: one line in, one line out."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluation.sandbox import SandboxUnavailableError
from evaluation.sandbox.packages import NANOBOT, built_packages
from evaluation.sandbox.shell import Outside, run_shell
from evaluation.tools.mcp.program_sockets import ENV, Ask, Call, ProgramSockets
from evaluation.tools.shell import SESSION_SECONDS, Shell, carry_back, entries_of
from studio.domain.storable import read_json
from studio.domain.tool_names import bare_tool_name

MAX_ANSWER = 1_000_000
SOCKET_PROCESSES, SOCKET_FILES = 48, 96
"""Fewer where sockets can be opened: no other limit bounds the kernel's memory for their buffers."""
COMMAND = "exec python3 -B /run/program/main.py"


class ProgramError(Exception):
    """The program failed; the message says how."""


class NoSandboxError(Exception):
    """Nothing can be run on this machine; the message says why."""


def _carry(folder: Path, shell: Shell) -> None:
    carry_back(folder, shell.workspace)


def run_program(
    shell: Shell, source: str, line: Mapping[str, Any], seconds: float, connected: Outside | None = None
) -> dict[str, Any]:
    """Start the program, give it ``line`` as JSON, and return its last line of output. Its files are carried over.
    ``connected``: what it reaches over sockets.

    Raises ProgramError and NoSandboxError.
    """
    left = seconds if connected else min(seconds, SESSION_SECONDS - shell.used)
    if left <= 0:
        raise ProgramError(f"It has used up its {SESSION_SECONDS:g} seconds of the session.")
    limits = replace(shell.limits, seconds=left)
    if connected:
        limits = replace(limits, processes=SOCKET_PROCESSES, open_files=SOCKET_FILES)
    given = json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n"
    try:
        outcome = run_shell(
            COMMAND,
            list(entries_of(shell.workspace)),
            lambda folder: _carry(folder, shell),
            limits,
            stdin=given,
            outside=replace(connected or Outside(now=shell.now), files={"main.py": source.encode()}),
        )
    except SandboxUnavailableError as error:
        raise NoSandboxError(str(error)) from None
    if not connected:
        shell.used += outcome.seconds
    if outcome.reason != "ok":
        raise ProgramError(outcome.explain(limits))
    lines = outcome.stdout.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = read_json(lines[-1][:MAX_ANSWER])
    except (IndexError, ValueError):
        answer = None
    if not isinstance(answer, dict):
        words = outcome.stderr.decode("utf-8", "replace").strip().splitlines()
        said = f" Its last words: {words[-1][:300]}" if words else ""
        raise ProgramError(f"{'Its last line of output is no JSON object.' if lines else 'It printed nothing.'}{said}")
    return answer


def nanobot_packages() -> Path | None:
    """None if it is not installed here."""
    return built_packages(NANOBOT)


@dataclass(frozen=True)
class Line:
    """What a program reaches over its sockets."""

    tools: Sequence[Mapping[str, Any]]
    """Function schemas. Those of simulated apps are listed without ``mcp_appworld_`` and called by either name."""
    call: Call
    ask: Ask
    packages: Path | None = None
    """Of an environment of its own."""


def run_connected(shell: Shell, source: str, line: Mapping[str, Any], seconds: float, reach: Line) -> dict[str, Any]:
    """Like ``run_program``, with the two sockets, which this thread answers. The session's limit on commands does not
    count it: most of its time is the model's.

    Raises ProgramError and NoSandboxError, and what answering raises.
    """
    import mcp_types as types

    functions = [tool["function"] for tool in reach.tools]
    short = {bare_tool_name(function["name"]): function["name"] for function in functions}
    listed = [
        types.Tool(name=name, description=function["description"], input_schema=function["parameters"])
        for name, function in zip(short, functions, strict=True)
    ]

    def call(name: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        name = short.get(name, name)
        if name not in short.values():
            return f"Error: there is no tool {name[:100]!r} here. Files are in the program's own folder.", True
        return reach.call(name, arguments)

    answers: list[dict[str, Any]] = []
    failures: list[Exception] = []
    with ProgramSockets(listed, call, reach.ask) as sockets:
        outside = Outside(sockets.paths, ENV, reach.packages, sockets.stop, shell.now)

        def run() -> None:
            try:
                answers.append(run_program(shell, source, line, seconds, outside))
            except Exception as error:  # raised again by the caller's thread
                failures.append(error)

        thread = threading.Thread(target=run, name="program", daemon=True)
        thread.start()
        try:
            sockets.attend(thread)
        finally:
            sockets.stop.set()
            thread.join()
    if failures:
        raise failures[0]
    return answers[0]
