"""`pibench`, started from its own environment: it cannot be installed beside verifiers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import verifiers.v1 as vf

REPORT = "pibench"
"""In a trace's ``info``: what `pibench run --json` says, or None if it did not come to its end."""
KEY = "LITELLM_API_KEY"
"""`pibench` sends it to a model named ``litellm:NAME@URL``, and to no other."""
IDLE = ("--model", "scripted:silent")
"""An agent that says nothing; user and judge are scripted as well, so nothing is asked."""


class EpisodeData(vf.TaskData):
    """A persona's episode. Nothing of what its sessions hide stands here, since traces carry it."""

    command: str
    """`pibench`"""
    path: str
    """Of the pack."""
    sha256: str
    persona: str
    split: str
    tasks: list[str]
    """Those that score."""
    not_validated: dict[str, str]
    """Why, by task."""


def show(command: str, path: str) -> dict[str, Any]:
    """What is in the pack. Raises ValueError."""
    done = subprocess.run([command, "show", path, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr)
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


async def replay(data: EpisodeData, runtime: vf.Runtime) -> list[dict[str, Any]]:
    """What reference solutions earn, and answers that take no work: a row a task that scores. Raises vf.TaskError."""
    chosen = ["--persona", data.persona, "--split", data.split, "--json"]
    done = await runtime.run([data.command, "validate", data.path, *chosen], {})
    if not done.stdout:
        raise vf.TaskError(done.stderr)
    rows: list[dict[str, Any]] = json.loads(done.stdout)["tasks"]
    return rows


async def play(
    data: EpisodeData, runtime: vf.Runtime, seats: Sequence[str], env: Mapping[str, str]
) -> tuple[vf.ProgramResult, dict[str, Any] | None]:
    """The persona's sessions in a folder of the runtime, and the report if all came to their end."""
    chosen = ["--persona", data.persona, "--split", data.split, "--out", "results", "--json"]
    done = await runtime.run([data.command, "run", data.path, *seats, *chosen], dict(env))
    return done, json.loads(done.stdout) if done.exit_code == 0 else None
