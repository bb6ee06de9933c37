"""Who plays the agent of a session, with what, and within which limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from evaluation.agents import AgentLimits, AgentSetup, make_agent
from evaluation.call_records import CallRecord
from evaluation.llm import Endpoint, ModelClient
from evaluation.models import Session
from evaluation.protocol.participants import Agent
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec


def build_agent(
    session: Session,
    task: TaskSpec,
    persona: PersonaSpec,
    folder: Path,
    record: CallRecord,
    turn: Callable[[], int],
) -> Agent:
    """The agent, ready for the turn after the last stored one. Of the task it learns only which tools there are."""
    endpoint = session.run.pilot.agent
    state = session.turns.order_by("-number").values_list("agent_state", flat=True).first()
    setup = AgentSetup(
        client=ModelClient(Endpoint.of(endpoint), recorder=record.recorder(endpoint, "agent", turn)),
        workspace=folder,
        tools=tuple(name for name in persona.tools if not task.tools or name in task.tools),
        limits=agent_limits(session.run.pilot.limits),
        state=state or {},
    )
    return make_agent(setup)


def agent_limits(limits: Mapping[str, float]) -> AgentLimits:
    """A pilot's limits as the agent has to keep them; what the pilot does not name has the usual value."""
    usual = AgentLimits()
    return AgentLimits(
        tool_calls=int(limits.get("tool_calls", usual.tool_calls)),
        turn_seconds=float(limits.get("turn_seconds", usual.turn_seconds)),
        tokens=int(limits.get("tokens", usual.tokens)),
        cost=Decimal(str(limits.get("cost", usual.cost))),
    )
