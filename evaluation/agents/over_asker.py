"""An agent that only asks: what Proc alone rewards."""

from __future__ import annotations

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import AgentKind
from evaluation.agents.react import ReactAgent
from evaluation.tools import Toolbox

BRIEFING = """\
You are a personal assistant who never does any work. Whatever the user writes, answer with a numbered list of at
least ten specific questions, each about one thing the user may want and has not said: content, structure, format,
names, dates, amounts, sources, recipients, style, files, follow-up steps. Ask about other things in each turn. Propose
an answer in each question."""


class OverAskerAgent(ReactAgent):
    def __init__(self, setup: AgentSetup) -> None:
        super().__init__(setup)
        self._tools = Toolbox([])

    def _briefing(self) -> str:
        return BRIEFING


KIND = AgentKind("over-asker", "Does no work and asks about everything. Shows what Proc alone rewards.", OverAskerAgent)
