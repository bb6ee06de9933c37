"""What a session's rows say it is played with."""

from __future__ import annotations

from dataclasses import replace

from evaluation.call_records import group_of
from evaluation.engine.plan import AgentSeat, SessionPlan, agent_limits, given_seat
from evaluation.judging.judgings import first_round, versions_of
from evaluation.llm import Endpoint
from evaluation.model_access import endpoint_of, lane_of
from evaluation.models import Pilot, Session
from evaluation.models.pilots import Role
from evaluation.protocol.given import GivenTurn
from evaluation.protocol.prompt_files import CURRENT, NAMES, VOICE_NAMES
from evaluation.protocol.session import MAX_TURNS
from evaluation.protocol.voice import UserStyle, usual_style
from evaluation.store.frozen import persona_of, task_of
from evaluation.tools.mcp.servers import bound_servers
from studio.models import Blob
from studio.personas.tool_servers import policy, servers_of


def plan_of(session: Session) -> SessionPlan:
    task, persona = task_of(session.revision_id), persona_of(session.run.persona_revision_id)
    plan = SessionPlan(
        name=f"session-{session.pk}",
        task=task,
        persona=persona,
        agent=None,
        user=_endpoint(session, "user_model"),
        judge=_endpoint(session, "judge"),
        prompts={name: CURRENT[session.run.terms.protocol][name] for name in NAMES},
        terms=session.run.terms,
        position=session.position,
        servers=bound_servers(servers_of(persona), Blob.objects.read),
        server_policy=policy(),
    )
    if session.run.pilot is not None:
        return _of_pilot(plan, session, session.run.pilot)
    return _of_rehearsal(plan, session) if session.is_rehearsal else _of_probe(plan, session)


def _of_pilot(plan: SessionPlan, session: Session, pilot: Pilot) -> SessionPlan:
    kind, user = pilot.agent_kind, pilot.config.get("user") or {}
    in_voice = user.get("style") == UserStyle.IN_VOICE
    return replace(
        plan,
        agent=AgentSeat(endpoint_of(pilot.endpoint("agent")), kind.kind, kind.params, agent_limits(pilot.limits)),
        prompts=versions_of(first_round(pilot.pk)),
        voice={name: str(prompt["version"]) for name, prompt in user["prompts"].items()} if in_voice else None,
        said_in_request=pilot.said_in_request(plan.persona.user_id, plan.task.task_id),
        max_turns=int(pilot.limits.get("turns") or MAX_TURNS),
        followed=Session.objects.filter(run=session.run_id, position__gt=session.position).exists(),
        lane=lane_of(group_of(pilot)),
    )


def _of_rehearsal(plan: SessionPlan, session: Session) -> SessionPlan:
    """Who plays the agent uses tools by themselves, and hears the user speak as in a pilot; who plays the user speaks
    by themselves."""
    lane, agent = lane_of(f"session {session.pk}"), _endpoint(session, "agent")
    if agent is not None:
        return replace(plan, agent=AgentSeat(agent), lane=lane)
    versions = CURRENT[plan.terms.protocol]
    style = usual_style(plan.terms.protocol, scripted=plan.user is None or plan.user.scripted)
    voice = {name: versions[name] for name in VOICE_NAMES if name in versions}
    return replace(plan, servers=(), voice=voice if style == UserStyle.IN_VOICE else None, lane=lane)


def _of_probe(plan: SessionPlan, session: Session) -> SessionPlan:
    """All that its user wants is in the request, so that one turn ends it."""
    probe, agent = session.probe, _endpoint(session, "agent")
    assert agent is not None
    told = plan.task.model_copy(update={"initial_request": probe.request, "intents": ()})
    seat = AgentSeat(agent) if probe.given is None else given_seat(GivenTurn.from_json(probe.given))
    return replace(plan, task=told, agent=seat, lane=lane_of(f"validation {probe.validation_id}"))


def _endpoint(session: Session, role: Role) -> Endpoint | None:
    row = session.endpoint(role)
    return endpoint_of(row) if row else None
