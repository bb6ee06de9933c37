"""Agents that take part in sessions; ``make_agent`` builds one."""

from evaluation.agents import command, endpoint, nanobot, no_op, oracle, over_asker, react
from evaluation.agents.base import AgentLimits, AgentSetup
from evaluation.agents.incoming import as_chat
from evaluation.agents.kinds import AgentKind, make_agent, register, register_informed
from evaluation.tools import World, reachable_names

for _kind in (react.KIND, endpoint.KIND, command.KIND, nanobot.KIND, no_op.KIND, over_asker.KIND):
    register(_kind)
register_informed(oracle.KIND)

__all__ = ["AgentKind", "AgentLimits", "AgentSetup", "World", "as_chat", "make_agent", "reachable_names", "register"]
