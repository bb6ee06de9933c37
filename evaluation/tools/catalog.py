"""Tools as authors read about them, from the same schemas that models get."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, partial
from importlib import import_module
from typing import Any

from evaluation.tools.apps import AppDataError, World, bound_tools
from evaluation.tools.apps.catalog import APPS
from evaluation.tools.general import GENERAL
from evaluation.tools.tool import Tool
from studio.domain.app_data import AppCard, AppReader, AppTable, RecordKind
from studio.domain.tool_catalog import ToolCard, ToolParameter

MAX_ROWS = 200
"""Of a table of app data that authors see."""


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


def app_readers() -> dict[str, AppReader]:
    return {name: partial(_app_card, name) for name in APPS}


def _app_card(name: str, content: bytes | None) -> AppCard:
    view = APPS[name].view
    kinds = _kinds(name)
    example = json.dumps(import_module(f"evaluation.tools.apps.{name}.seed").EXAMPLE, ensure_ascii=False, indent=2)
    if content is None:
        return AppCard(name, view.title, view.about, example=example, kinds=kinds)
    world = World({name: content})
    try:
        state = world.state(name)
        problems = tuple(state.problems())
    except AppDataError as error:
        return AppCard(name, view.title, view.about, error=str(error), example=example, kinds=kinds)
    tables = []
    for table_name, table in view.tables.items():
        records = list(state.tables[table_name])
        key = state.tables[table_name].key
        columns = tuple(dict.fromkeys((key, *table.columns)))
        rows = tuple(tuple(_cell(getattr(record, column)) for column in columns) for record in records[:MAX_ROWS])
        if records:
            tables.append(AppTable(table_name, columns, rows, len(records)))
    return AppCard(name, view.title, view.about, tuple(tables), problems=problems, example=example, kinds=kinds)


@cache
def _kinds(name: str) -> tuple[RecordKind, ...]:
    tables, views = APPS[name].state_type().tables, APPS[name].view.tables
    return tuple(RecordKind(table, view.noun, tables[table].fields, view.columns) for table, view in views.items())


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
