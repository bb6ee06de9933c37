"""Tools as authors read about them, from the same schemas that models get."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.tools.apps import bound_tools
from evaluation.tools.files import workspace_tools
from evaluation.tools.tool import Tool
from evaluation.tools.workspace import Workspace
from studio.domain.tool_catalog import ToolCard, ToolParameter


def tool_cards(names: Iterable[str]) -> tuple[list[ToolCard], list[ToolCard]]:
    return list(_workspace_cards()), [_card(tool) for tool in bound_tools(names)]


@cache
def _workspace_cards() -> tuple[ToolCard, ...]:
    return tuple(_card(tool) for tool in workspace_tools(Workspace(Path())))  # no tool is called


def _card(tool: Tool) -> ToolCard:
    schema = tool.schema["function"]["parameters"]
    required = set(schema.get("required", ()))
    return ToolCard(
        tool.name,
        tool.description,
        tuple(
            ToolParameter(name, _kind(part), name in required, str(part.get("description", "")))
            for name, part in schema.get("properties", {}).items()
        ),
        known=True,
    )


def _kind(part: dict[str, Any]) -> str:
    kinds = [part] if "type" in part else part.get("anyOf", [])
    return " or ".join(str(kind["type"]) for kind in kinds if "type" in kind) or "anything"
