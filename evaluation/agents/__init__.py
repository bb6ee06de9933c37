"""Agents: what takes a turn in a session. ``make_agent`` is the way to one."""

from evaluation.agents import react
from evaluation.agents.base import AgentLimits, AgentSetup, make_agent, register

register("react", react.ReactAgent)

__all__ = ["AgentLimits", "AgentSetup", "make_agent", "register"]
