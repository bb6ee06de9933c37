"""An agent that does nothing: what a checklist gives away for free."""

from __future__ import annotations

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import AgentKind
from evaluation.protocol.participants import AgentReply
from studio.domain.opening_message import Incoming

DEFAULT_TEXT = "Done."


class NoOpAgent:
    def __init__(self, setup: AgentSetup) -> None:
        self._text = setup.params.get("text") or DEFAULT_TEXT

    def reply(self, message: Incoming) -> AgentReply:
        return AgentReply(self._text)


KIND = AgentKind(
    "no-op",
    "Does nothing and says so; its model is never asked. Shows which items are met without work.",
    NoOpAgent,
    {"text": f"What it answers; “{DEFAULT_TEXT}” without."},
)
