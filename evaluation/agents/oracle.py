"""An agent that is told the task's reference workflow: whether the task can be done at all."""

from __future__ import annotations

from evaluation.agents.base import AgentSetup
from evaluation.agents.kinds import InformedKind, Workflow
from evaluation.agents.react import ReactAgent

TOLD = """

The user wants exactly the following, though they may not say all of it. Do every step now, without asking, and say
in your answer what you did in each.
<workflow>
{workflow}
</workflow>"""


class OracleAgent(ReactAgent):
    def __init__(self, setup: AgentSetup, workflow: Workflow) -> None:
        super().__init__(setup)
        self._workflow = workflow

    def _briefing(self) -> str:
        return super()._briefing() + TOLD.format(workflow=self._workflow)


KIND = InformedKind(
    "oracle",
    "A model that is told each task’s reference workflow. Shows whether the tasks can be done.",
    OracleAgent,
)
