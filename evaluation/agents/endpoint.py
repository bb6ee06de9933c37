"""An agent that is a program of its own: it speaks the OpenAI API and remembers its conversations."""

from __future__ import annotations

from typing import Any

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import AgentKind
from evaluation.agents.react import ReactAgent
from evaluation.llm import Completion


class EndpointAgent(ReactAgent):
    """Sends only what is new: the user's message, or the results of the tools that the program called. The parameter
    ``user`` says which conversation it belongs to."""

    sends_all = False

    def __init__(self, setup: AgentSetup) -> None:
        super().__init__(setup)
        self._conversation = setup.conversation

    def _briefing(self) -> str:
        return ""  # it has its own

    def _complete(self, **params: Any) -> Completion:
        answered = [at for at, message in enumerate(self._messages, start=1) if message["role"] == "assistant"]
        new = self._messages[answered[-1] if answered else 0 :]
        return self._client.complete(
            new, tools=self._tools.schemas, sequence=len(self._messages), user=self._conversation, **params
        )


KIND = AgentKind(
    "endpoint",
    "A program that speaks the OpenAI API and keeps its own state: it is sent only what is new.",
    EndpointAgent,
)
