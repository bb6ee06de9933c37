"""Agents to compare others with: one does nothing, one only asks, one is told what is wanted."""

from __future__ import annotations

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import AgentKind, InformedKind, Workflow
from evaluation.agents.react import ReactAgent
from evaluation.protocol.participants import AgentReply
from evaluation.tools import Toolbox
from studio.domain.opening_message import Incoming

DEFAULT_TEXT = "Done."


class NoOpAgent:
    """Does nothing: what a checklist gives away for free."""

    def __init__(self, setup: AgentSetup) -> None:
        self._text = setup.params.get("text") or DEFAULT_TEXT

    def reply(self, message: Incoming) -> AgentReply:
        return AgentReply(self._text)


NO_OP = AgentKind(
    "no-op",
    "Does nothing and says so; its model is never asked. Shows which items are met without work.",
    NoOpAgent,
    {"text": f"What it answers; “{DEFAULT_TEXT}” without."},
)


ASKING = """\
You are a personal assistant who never does any work. Whatever the user writes, answer with a numbered list of at
least ten specific questions, each about one thing the user may want and has not said: content, structure, format,
names, dates, amounts, sources, recipients, style, files, follow-up steps. Ask about other things in each turn. Propose
an answer in each question."""


class OverAskerAgent(ReactAgent):
    """Only asks: what Proc alone rewards."""

    def __init__(self, setup: AgentSetup) -> None:
        super().__init__(setup)
        self._tools = Toolbox([])

    def _briefing(self) -> str:
        return ASKING


OVER_ASKER = AgentKind(
    "over-asker", "Does no work and asks about everything. Shows what Proc alone rewards.", OverAskerAgent
)


TOLD = """

The user wants exactly the following, though they may not say all of it. Do every step now, without asking, and say
in your answer what you did in each.
<workflow>
{workflow}
</workflow>"""


class OracleAgent(ReactAgent):
    """Is told the reference workflow: whether the task can be done at all."""

    def __init__(self, setup: AgentSetup, workflow: Workflow) -> None:
        super().__init__(setup)
        self._workflow = workflow

    def _briefing(self) -> str:
        return super()._briefing() + TOLD.format(workflow=self._workflow)


ORACLE = InformedKind(
    "oracle",
    "A model that is told each task’s reference workflow. Shows whether the tasks can be done.",
    OracleAgent,
)
