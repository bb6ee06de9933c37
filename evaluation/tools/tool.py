"""A tool: its name, arguments, and function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

MAX_RESULT = 20_000
"""Characters of a result that the agent sees."""
FilePath = Annotated[
    str, Field(min_length=1, max_length=4_000, description="Path within the workspace, e.g. notes/plan.md")
]


class ToolError(Exception):
    """The message tells the model what is wrong and what to do instead."""

    def __init__(self, message: str, *, result: str = "", changes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.changes = changes
        """What was changed all the same."""
        self.result = result
        """What the agent reads instead, where a service answers in a form of its own."""


def truncate(text: str, limit: int = MAX_RESULT) -> str:
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut here: {len(text) - limit} more characters; ask for less at a time]"


class ToolOutcome(NamedTuple):
    text: str
    changes: tuple[str, ...] = ()
    """What the call changed in an app or among the files, a sentence each."""
    effects: tuple[dict[str, Any], ...] = ()
    """What it changed in an app, as records: ``{app, table, key, before, after}``."""


class Arguments(BaseModel):
    """A tool's arguments. Numbers may be given as text; unknown names are rejected."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any], str | ToolOutcome]
    """Takes an instance of ``arguments``. Raises ToolError."""
    act: Callable[[Any, str], str | ToolOutcome] | None = None
    """Instead of ``run``, for what has effects outside of the session's files and apps (mail that is really sent, an
    MCP server). Takes the idempotency key as well, and must do nothing if it did something under this key before;
    where nobody can promise that, it is not ``repeatable``."""

    parameters: Mapping[str, Any] | None = None
    """JSON schema for the model, where ``arguments`` does not say it."""
    repeatable: bool = True
    """Of a tool with ``act``: whether a call that was interrupted may be made again, with the same key."""

    @property
    def outside(self) -> bool:
        return self.act is not None

    @property
    def schema(self) -> dict[str, Any]:
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": parameters_of(self.arguments) if self.parameters is None else dict(self.parameters),
        }
        return {"type": "function", "function": function}


BOUNDS = frozenset(
    "minLength maxLength minItems maxItems minimum maximum exclusiveMinimum exclusiveMaximum pattern".split()
)
UNSAID = BOUNDS | {"title"}
"""Every call is checked against ``arguments``, and an error says what is wrong; a model reads schemas at each turn."""
EMPTY: tuple[Any, ...] = (None, "", 0, [], {})
"""Defaults that leaving a parameter out says as well."""


@lru_cache(1024)
def parameters_of(arguments: type[Arguments]) -> dict[str, Any]:
    """Not to be changed: every session has it."""
    parameters: dict[str, Any] = _said(arguments.model_json_schema())
    parameters.pop("description", None)
    return parameters


def _said(schema: Any) -> Any:
    """Without what is ``UNSAID``, and without null and empty defaults, where leaving a parameter out says the same."""
    if isinstance(schema, list):
        return [_said(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "anyOf" in schema and "default" in schema and schema["default"] is None:
        left = [part for part in schema["anyOf"] if part != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
        return _said({**(left[0] if len(left) == 1 else {"anyOf": left}), **rest})
    return {
        key: {name: _said(part) for name, part in value.items()} if key == "properties" else _said(value)
        for key, value in schema.items()
        if key not in UNSAID
        and (key, value) != ("additionalProperties", False)
        and not (key == "default" and value in EMPTY)
    }
