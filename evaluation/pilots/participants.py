"""The agent of a session, with its tools and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from evaluation.agents import AgentLimits, AgentSetup, World, make_agent, reachable_names
from evaluation.agents.kinds import Workflow, is_informed, make_informed_agent
from evaluation.agents.servers import MoreTools
from evaluation.call_records import CallRecord
from evaluation.models import Session
from evaluation.pilots.journal import SessionJournal
from evaluation.protocol.participants import Agent
from evaluation.workspaces.app_states import AppStates
from evaluation.workspaces.web_corpus import open_corpus
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.models import Blob


def build_agent(
    session: Session,
    task: TaskSpec,
    persona: PersonaSpec,
    folder: Path,
    world: World,
    record: CallRecord,
    turn: Callable[[], int],
    servers: MoreTools | None = None,
) -> Agent:
    """The agent, resumed after the last stored turn. Of the task it learns only the tool names; an informed one, the
    reference workflow as well."""
    agent = session.run.pilot.agent_kind
    state = None if session.fresh else session.turns.order_by("-number").values_list("agent_state", flat=True).first()
    setup = AgentSetup(
        client=record.client(session.run.pilot.endpoint("agent"), "agent", turn),
        workspace=folder,
        tools=reachable_names(persona.tools, task.tools),
        world=world,
        corpus=open_corpus(persona, task.task_id, Blob.objects.read),
        servers=servers,
        journal=SessionJournal(session, turn),
        limits=agent_limits(session.run.pilot.limits),
        state=record.restore(state or {}),
        params=agent.params,
        conversation=f"session-{session.pk}",
    )
    if is_informed(agent.kind):
        return make_informed_agent(setup, agent.kind, Workflow(task.reference_workflow))
    return make_agent(setup, agent.kind)


def open_world(apps: AppStates) -> World:
    """The simulated apps as the session finds them. Raises AppDataError."""
    return World(apps.contents, apps.now)


def agent_limits(limits: Mapping[str, float]) -> AgentLimits:
    defaults = AgentLimits()
    return AgentLimits(
        tool_calls=int(limits.get("tool_calls", defaults.tool_calls)),
        turn_seconds=float(limits.get("turn_seconds", defaults.turn_seconds)),
        tokens=int(limits.get("tokens", defaults.tokens)),
        cost=Decimal(str(limits.get("cost", defaults.cost))),
    )
