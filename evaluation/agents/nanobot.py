"""The paper's scaffold, from its package ``nanobot-ai``: a program in the sandbox like any other, with sockets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.command import CommandAgent
from evaluation.agents.kinds import AgentKind
from evaluation.protocol.participants import AgentReply, InfrastructureError
from evaluation.tools.programs import Line, nanobot_packages, run_connected
from studio.domain.opening_message import Incoming

DRIVER = Path(__file__).parent / "programs" / "nanobot_driver.py"
COMMAND = "make nanobot-agent"


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

    def _run(self, given: dict[str, Any], seconds: float) -> dict[str, Any]:
        reach = Line(self._reach.tools, self._reach.call, self._reach.ask, nanobot_packages())
        given |= {"conversation": self._setup.conversation}
        return run_connected(self._shell, self._program, given, seconds, reach)


KIND = AgentKind(
    "nanobot",
    "The scaffold of the paper, from its own package, in the sandbox.",
    NanobotAgent,
)
