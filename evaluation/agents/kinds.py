"""The kinds of agents there are, and what each is built from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, NewType, TypeVar

from evaluation.agents.base import AgentSetup
from evaluation.protocol.participants import Agent

Workflow = NewType("Workflow", str)
"""A task's reference workflow. Only the constructor of an informed agent takes one."""


Build = TypeVar("Build", bound=Callable[..., Agent])


@dataclass(frozen=True)
class _Kind(Generic[Build]):
    """``parameters``: names and what they mean; all are text."""

    name: str
    sentence: str
    build: Build
    parameters: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What a parameter may be, by its name; the first is what it is without."""
    numbers: frozenset[str] = frozenset()
    """Parameters that are whole numbers."""


class AgentKind(_Kind[Callable[[AgentSetup], Agent]]):
    pass


class InformedKind(_Kind[Callable[[AgentSetup, Workflow], Agent]]):
    """An agent that is told how the task is done."""


_kinds: dict[str, AgentKind] = {}
_informed: dict[str, InformedKind] = {}


def register(kind: AgentKind) -> None:
    _kinds[kind.name] = kind


def register_informed(kind: InformedKind) -> None:
    _informed[kind.name] = kind


def all_kinds() -> dict[str, AgentKind | InformedKind]:
    return {**_kinds, **_informed}


def is_informed(name: str) -> bool:
    return name in _informed


def parameter_problem(kind: AgentKind | InformedKind, name: str, value: str) -> str:
    """Why the value cannot be; empty if it can."""
    if name not in kind.parameters:
        names = ", ".join(kind.parameters) or "none"
        return f"“{kind.name}” has no parameter “{name}”. It has: {names}."
    choices = kind.choices.get(name)
    if choices and value not in choices:
        return f"“{name}” is {' or '.join(f'“{choice}”' for choice in choices)}, not “{value}”."
    if name in kind.numbers and not (value.isascii() and value.isdecimal() and 0 < len(value) < 10):
        return f"“{name}” is a whole number, not “{value}”."
    return ""


def make_agent(setup: AgentSetup, kind: str = "react") -> Agent:
    """Raises LookupError for a kind that does not exist, and for one that must be told the workflow."""
    try:
        return _kinds[kind].build(setup)
    except KeyError:
        raise LookupError(f"There is no agent {kind!r}; there are {', '.join(sorted(_kinds))}.") from None


def make_informed_agent(setup: AgentSetup, kind: str, workflow: Workflow) -> Agent:
    """The door by which the reference workflow goes to an agent."""
    return _informed[kind].build(setup, workflow)
