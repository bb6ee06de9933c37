"""Tools as authors read about them, from the same schemas that models get."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import Any

from evaluation.tools.apps import bound_tools
from evaluation.tools.general import GENERAL
from evaluation.tools.tool import Tool
from studio.domain.tool_catalog import ToolCard, ToolParameter


def tool_cards(names: Iterable[str]) -> tuple[list[ToolCard], list[ToolCard]]:
    return [_as_here(card) for card in _general_cards()], [_card(tool) for tool in bound_tools(names)]


def _as_here(card: ToolCard) -> ToolCard:
    """With what is true of it on this machine."""
    tool = GENERAL[card.name]
    caveat = tool.caveat()
    return replace(card, lacking=tool.lacking(), plain=f"{card.plain}. {caveat}" if caveat else card.plain)


@cache
def _general_cards() -> tuple[ToolCard, ...]:
    tools = ((Tool(tool.name, tool.description, tool.arguments, _never), tool.plain) for tool in GENERAL.values())
    return tuple(replace(_card(tool), plain=plain) for tool, plain in tools)


def _never(arguments: Any) -> str:
    raise NotImplementedError


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
