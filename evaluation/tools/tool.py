"""One tool: its name, what it takes, and the function behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict


class ToolError(Exception):
    """The tool cannot do what it was asked. The text is for the model: what is wrong, and what to do instead."""


class Arguments(BaseModel):
    """What a tool takes. Numbers given as text are taken; unknown names are told back."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class Tool:
    name: str
    description: str
    takes: type[Arguments]
    run: Callable[[Any], str]
    """Takes an instance of ``takes``. Raises ToolError."""

    @property
    def schema(self) -> dict[str, Any]:
        """As function calling wants it."""
        parameters = _untitled(self.takes.model_json_schema())
        parameters.pop("description", None)
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": parameters},
        }


def _untitled(schema: Any) -> Any:
    """A schema without the titles pydantic adds, which tell a model nothing."""
    if isinstance(schema, dict):
        return {
            key: {name: _untitled(part) for name, part in value.items()} if key == "properties" else _untitled(value)
            for key, value in schema.items()
            if key != "title"
        }
    return [_untitled(item) for item in schema] if isinstance(schema, list) else schema
