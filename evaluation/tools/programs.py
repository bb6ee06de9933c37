"""An agent's own program, run in the sandbox over the session's workspace: one line in, one line out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.sandbox import SandboxUnavailableError
from evaluation.sandbox.shell import run_shell
from evaluation.tools.shell import SESSION_SECONDS, Shell, carry_back, entries_of

MAX_ANSWER = 1_000_000
COMMAND = "exec python3 -B /run/program/main.py"


class ProgramError(Exception):
    """The program failed; the message says how."""


class NoSandboxError(Exception):
    """Nothing can be run on this machine; the message says why."""


def _carry(folder: Path, shell: Shell) -> None:
    carry_back(folder, shell.workspace)


def run_program(shell: Shell, source: str, line: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Start the program, give it ``line`` as JSON, and return its last line of output. Its files are carried over.

    Raises ProgramError and NoSandboxError.
    """
    left = min(seconds, SESSION_SECONDS - shell.used)
    if left <= 0:
        raise ProgramError(f"It has used up its {SESSION_SECONDS:g} seconds of the session.")
    limits = replace(shell.limits, seconds=left)
    given = json.dumps(line, ensure_ascii=False, default=str).encode() + b"\n"
    try:
        outcome = run_shell(
            COMMAND,
            list(entries_of(shell.workspace)),
            lambda folder: _carry(folder, shell),
            limits,
            files={"main.py": source.encode()},
            stdin=given,
        )
    except SandboxUnavailableError as error:
        raise NoSandboxError(str(error)) from None
    shell.used += outcome.seconds
    if outcome.reason != "ok":
        raise ProgramError(outcome.explain(limits))
    lines = outcome.stdout.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1][:MAX_ANSWER])
    except (IndexError, ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise ProgramError("Its last line of output is no JSON object.")
    return answer
