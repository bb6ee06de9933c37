"""Agents that take part in sessions; ``make_agent`` builds one."""

from evaluation.agents import react
from evaluation.agents.base import AgentLimits, AgentSetup, make_agent, register

register("react", react.ReactAgent)

__all__ = ["AgentLimits", "AgentSetup", "make_agent", "register"]
