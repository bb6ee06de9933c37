"""A tool: its name, arguments, and function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict


class ToolError(Exception):
    """The message tells the model what is wrong and what to do instead."""


class Arguments(BaseModel):
    """A tool's arguments. Numbers may be given as text; unknown names are rejected."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any], str]
    """Takes an instance of ``arguments``. Raises ToolError."""

    @property
    def schema(self) -> dict[str, Any]:
        parameters = _untitled(self.arguments.model_json_schema())
        parameters.pop("description", None)
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }


def _untitled(schema: Any) -> Any:
    """Without the titles that pydantic adds, which tell a model nothing."""
    if isinstance(schema, dict):
        return {
            key: {name: _untitled(part) for name, part in value.items()} if key == "properties" else _untitled(value)
            for key, value in schema.items()
            if key != "title"
        }
    return [_untitled(item) for item in schema] if isinstance(schema, list) else schema
