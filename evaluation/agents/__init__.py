"""Agents that take part in sessions; ``make_agent`` builds one."""

from evaluation.agents import baselines, command, endpoint, nanobot, react
from evaluation.agents.base import AgentLimits, AgentSetup
from evaluation.agents.kinds import AgentKind, make_agent, register, register_informed
from evaluation.agents.messages import as_chat
from evaluation.tools import World, reachable_names

for _kind in (react.KIND, endpoint.KIND, command.KIND, nanobot.KIND, baselines.NO_OP, baselines.OVER_ASKER):
    register(_kind)
register_informed(baselines.ORACLE)

__all__ = ["AgentKind", "AgentLimits", "AgentSetup", "World", "as_chat", "make_agent", "reachable_names", "register"]
