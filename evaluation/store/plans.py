"""What a session's rows say it is played with."""

from __future__ import annotations

from evaluation.call_records import group_of
from evaluation.engine.plan import AgentSeat, SessionPlan, agent_limits
from evaluation.judging.judgings import versions_in
from evaluation.model_access import endpoint_of, lane_of
from evaluation.models import Session
from evaluation.protocol.session import MAX_TURNS
from evaluation.protocol.voice import UserStyle
from evaluation.store.frozen import persona_of, task_of
from evaluation.tools.mcp.servers import BoundServer
from studio.domain.persona import PersonaSpec
from studio.personas.tool_servers import files_for, policy, servers_of


def plan_of(session: Session) -> SessionPlan:
    pilot = session.run.pilot
    task, persona = task_of(session.revision_id), persona_of(session.run.persona_revision_id)
    kind, user = pilot.agent_kind, pilot.config.get("user") or {}
    in_voice = user.get("style") == UserStyle.IN_VOICE
    return SessionPlan(
        name=f"session-{session.pk}",
        task=task,
        persona=persona,
        agent=AgentSeat(endpoint_of(pilot.endpoint("agent")), kind.kind, kind.params, agent_limits(pilot.limits)),
        user=endpoint_of(pilot.endpoint("user_model")),
        judge=endpoint_of(pilot.endpoint("judge")),
        prompts=versions_in(pilot),
        terms=pilot.terms,
        voice={name: str(prompt["version"]) for name, prompt in user["prompts"].items()} if in_voice else None,
        said_in_request=pilot.said_in_request(persona.user_id, task.task_id),
        position=session.position,
        max_turns=int(pilot.limits.get("turns") or MAX_TURNS),
        followed=Session.objects.filter(run=session.run_id, position__gt=session.position).exists(),
        servers=bound_servers(persona),
        server_policy=policy(),
        lane=lane_of(group_of(pilot)),
    )


def bound_servers(persona: PersonaSpec) -> tuple[BoundServer, ...]:
    """Those that the persona binds, as frozen with it, as far as settings allow them."""
    usable = [row.server for row in servers_of(persona) if row.server and not row.flaw]
    return tuple(BoundServer(server, files_for(persona, server.name) if server.command else {}) for server in usable)
