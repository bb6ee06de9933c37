"""``spawn``: an assistant of the assistant, for a task that stands by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from evaluation.tools.tool import Arguments

Spawn = Callable[[str], str]
"""Gives a helper its task and returns its answer. Raises ToolError."""


class SpawnSubagent(Arguments):
    task: Annotated[
        str,
        Field(min_length=1, max_length=20_000, description="All it needs to know: it has not read this conversation"),
    ]
    label: Annotated[str, Field(max_length=100, description="A short name for the task")] = ""


def spawn_subagent(spawn: Spawn, arguments: SpawnSubagent) -> str:
    return spawn(arguments.task)
