"""The paper's scaffold, from its package ``nanobot-ai``: a program in the sandbox like any other, with sockets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.command import CommandAgent
from evaluation.agents.kinds import AgentKind
from evaluation.protocol.participants import AgentReply, InfrastructureError
from evaluation.sandbox.packages import BY_HAND
from evaluation.tools.programs import Line, nanobot_packages, run_connected
from studio.domain.opening_message import Incoming
from studio.domain.tool_names import APP_PREFIX, bare_tool_name

DRIVER = Path(__file__).parent / "programs" / "nanobot_driver.py"
COMMAND = f"{BY_HAND} nanobot" if BY_HAND else "make nanobot-agent"


class NanobotAgent(CommandAgent):
    """It has its own tools for files and commands; it remembers in the workspace, as it does elsewhere."""

    def __init__(self, setup: AgentSetup) -> None:
        super().__init__(replace(setup, params={"program": DRIVER.read_text(), "connection": "sockets"}))

    def reply(self, message: Incoming) -> AgentReply:
        """Raises AgentError and InfrastructureError, also where nanobot is not installed."""
        if nanobot_packages() is None:
            raise InfrastructureError(f"nanobot is not installed here: run {COMMAND}.")
        return super().reply(message)

    def _offered(self) -> list[dict[str, Any]]:
        return [dict(tool) for tool in self._reach.tools]

    def _ask_over_socket(self, request: dict[str, Any]) -> dict[str, Any]:
        """The model reads and writes the names that the persona binds."""
        completion = super()._ask_over_socket(_renamed(request, self._true_names))
        nanobots = {name: given for given, name in self._true_names.items()}
        return {**completion, "choices": [_renamed(choice, nanobots) for choice in completion["choices"]]}

    @cached_property
    def _true_names(self) -> dict[str, str]:
        """By the name that nanobot gives a tool: after its server, and with one underscore where there were more."""
        names = [tool["function"]["name"] for tool in self._reach.tools]
        return {re.sub("_+", "_", f"{APP_PREFIX}{bare_tool_name(name)}"): name for name in names}

    def _run(self, given: dict[str, Any], seconds: float) -> dict[str, Any]:
        reach = Line(self._reach.tools, self._reach.call, self._reach.ask, nanobot_packages())
        given |= {"conversation": self._setup.conversation}
        return run_connected(self._shell, self._program, given, seconds, reach)


def _renamed(given: Any, names: Mapping[str, str]) -> Any:
    """With other names of functions, wherever in a request or an answer they stand."""
    if isinstance(given, list):
        return [_renamed(each, names) for each in given]
    if not isinstance(given, dict):
        return given
    renamed = {key: _renamed(value, names) for key, value in given.items()}
    for holder in (renamed.get("function"), renamed if renamed.get("role") == "tool" else None):
        if isinstance(holder, dict) and isinstance(holder.get("name"), str):
            holder["name"] = names.get(holder["name"], holder["name"])
    return renamed


KIND = AgentKind(
    "nanobot",
    "The scaffold of the paper, from its own package, in the sandbox.",
    NanobotAgent,
)
