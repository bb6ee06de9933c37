"""Agents that take part in sessions; ``make_agent`` builds one."""

from evaluation.agents import react
from evaluation.agents.base import AgentLimits, AgentSetup, make_agent, register
from evaluation.tools import World

register("react", react.ReactAgent)

__all__ = ["AgentLimits", "AgentSetup", "World", "make_agent", "register"]
