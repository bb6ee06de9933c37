"""What a session is played with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from evaluation.agents import AgentLimits
from evaluation.grading.judges import Versions
from evaluation.llm import Endpoint, Lane
from evaluation.llm.endpoint import SCRIPTED
from evaluation.protocol.given import GivenTurn
from evaluation.protocol.prompt_files import VoicePromptName
from evaluation.protocol.session import MAX_TURNS
from evaluation.protocol.versions import Terms
from evaluation.tools.mcp.servers import BoundServer
from evaluation.workspaces.app_states import Moment
from studio.domain.options import OptionsError
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.domain.tool_servers import ToolServerPolicy

LIMITS: dict[str, float] = {"turns": MAX_TURNS, "turn_seconds": 2400, "tool_calls": 200, "tokens": 2_000_000, "cost": 0}
"""Per session; 0 means no limit. ``tool_calls`` is per turn, ``cost`` is in US dollars."""


@dataclass(frozen=True)
class AgentSeat:
    endpoint: Endpoint
    kind: str = "react"
    params: Mapping[str, str] = field(default_factory=dict)
    limits: AgentLimits = field(default_factory=AgentLimits)
    given: GivenTurn | None = None
    """What is done in its only turn, in place of asking a model."""


def given_seat(turn: GivenTurn) -> AgentSeat:
    """No model sits there, so none is asked."""
    return AgentSeat(Endpoint("nobody", SCRIPTED, "", scripted=True), given=turn)


@dataclass(frozen=True)
class SessionPlan:
    name: str
    """Of the session, for programs that keep their own state of it."""
    task: TaskSpec
    persona: PersonaSpec
    agent: AgentSeat | None
    """None: a person replies."""
    user: Endpoint | None
    """Plays the user: decides on intents, and speaks in the persona's voice. None: a person does so alone."""
    judge: Endpoint | None
    """Of the checklist. None: criteria that need one stay undecided."""
    prompts: Versions
    terms: Terms = field(default_factory=Terms)
    """Its protocol, and the version of the agent's loop."""
    voice: Mapping[VoicePromptName, str] | None = None
    """Versions of the prompts by which the user speaks in the persona's voice; None: in the author's words."""
    said_in_request: Collection[int] = ()
    """Positions of the intents that the request says in full."""
    position: int = 1
    """Of the session in its episode, from 1."""
    max_turns: int = MAX_TURNS
    followed: bool = False
    """Whether another session goes on from what this one leaves."""
    servers: tuple[BoundServer, ...] = ()
    """That the persona binds."""
    server_policy: ToolServerPolicy = field(default_factory=ToolServerPolicy)
    lane: Lane = field(default_factory=Lane)
    """In which its calls wait for an endpoint's limits."""

    @property
    def moment(self) -> Moment:
        return Moment(self.task.task_id, self.position, self.terms.pace, self.terms.brief_lists)

    def endpoint(self, purpose: str) -> Endpoint:
        """Who is asked for it."""
        if purpose == "agent":
            found = self.agent.endpoint if self.agent else None
        else:
            found = self.judge if purpose.startswith("checklist") else self.user
        assert found is not None
        return found


def agent_limits(limits: Mapping[str, float]) -> AgentLimits:
    defaults = AgentLimits()
    return AgentLimits(
        tool_calls=int(limits.get("tool_calls", defaults.tool_calls)),
        turn_seconds=float(limits.get("turn_seconds", defaults.turn_seconds)),
        tokens=int(limits.get("tokens", defaults.tokens)),
        cost=Decimal(str(limits.get("cost", defaults.cost))),
    )


def session_limits(given: Mapping[str, float]) -> dict[str, float]:
    """All of them; those that are not ``given`` as usual. Raises OptionsError."""
    for name, value in given.items():
        if name not in LIMITS:
            raise OptionsError("limits", f"There is no limit “{name}”; there are {', '.join(LIMITS)}.")
        if value < 0:
            raise OptionsError("limits", f"The limit “{name}” is not a number from 0 up.")
    limits = LIMITS | dict(given)
    if not 1 <= limits["turns"] <= MAX_TURNS:
        raise OptionsError("limits", f"A session can have between 1 and {MAX_TURNS} turns.")
    return limits
