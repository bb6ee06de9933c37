"""``spawn``: an assistant of the assistant, for a task that stands by itself.

Helpers that were started in the background work when they are waited for, one after another: so a pilot does the same
each time, and two never write to one file at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from evaluation.tools.tool import Arguments, ToolError
from studio.domain.opening_message import EnvironmentEvent

MOST_WAITING = 8


class SpawnSubagent(Arguments):
    task: Annotated[
        str,
        Field(max_length=20_000, description="All it needs to know: it has not read this conversation"),
    ] = ""
    label: Annotated[str, Field(max_length=100, description="A short name for the task")] = ""
    background: Annotated[
        bool, Field(description="Go on at once; its answer comes when you wait for it, or before your turn ends")
    ] = False
    wait_for: Annotated[
        str, Field(max_length=100, description="Instead of a task: a helper in the background, or all")
    ] = ""


class Helpers:
    """``run`` gives a helper its task and returns its answer. Raises ToolError."""

    def __init__(self, run: Callable[[str], str]) -> None:
        self._run = run
        self.begin()

    def begin(self) -> None:
        """A turn: what an earlier one left undone at its limits is dropped."""
        self._waiting: dict[str, str] = {}
        self._answers: dict[str, str] = {}
        self._started = 0

    def spawn(self, arguments: SpawnSubagent) -> str:
        """Raises ToolError."""
        task = arguments.task.strip()
        if arguments.wait_for.strip():
            if task:
                raise ToolError("Give a task or wait_for, not both.")
            return self._wait_for(arguments.wait_for.strip())
        if not task:
            raise ToolError("Say in task what the helper is to do.")
        if not arguments.background:
            return self._run(task)
        if len(self._waiting) >= MOST_WAITING:
            raise ToolError(f"{MOST_WAITING} helpers are in the background already: wait for one of them.")
        self._started += 1
        name = f"helper-{self._started}"
        self._waiting[name] = task
        return f"Started {name}. Wait for its answer with wait_for, or go on."

    def finish(self) -> EnvironmentEvent | None:
        """The answers of those that nobody waited for."""
        answers = {name: self._answer(name) for name in list(self._waiting)}
        return EnvironmentEvent("helpers", {"answers": answers}) if answers else None

    def _wait_for(self, name: str) -> str:
        names = list(self._waiting) if name == "all" else [name]
        if not names:
            return "No helper is in the background."
        return "\n\n".join(f"[{each}]\n{self._answer(each)}" for each in names)

    def _answer(self, name: str) -> str:
        if name in self._waiting:
            try:
                self._answers[name] = self._run(self._waiting.pop(name))
            except ToolError as error:
                self._answers[name] = f"Error: {error}"
        if name not in self._answers:
            raise ToolError(f"There is no helper {name!r} in the background.")
        return self._answers[name]


Spawn = Callable[[SpawnSubagent], str]
"""Raises ToolError."""
