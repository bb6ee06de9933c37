"""Tools and simulated apps as authors read and edit them, from the same declarations that agents act on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from evaluation.tools.apps import AppDataError, bound_tools
from evaluation.tools.apps.catalog import APPS
from evaluation.tools.apps.framework.state import HIDDEN
from evaluation.tools.apps.framework.tables import Table
from evaluation.tools.apps.world import load_state
from evaluation.tools.general import GENERAL
from evaluation.tools.tool import Tool
from studio.domain.app_data import AppCard, AppDeclaration, AppTable, RecordKind, SignsInBy
from studio.domain.app_tables.declared import AppField, DeclaredTable, Form, RecordFlaw, Shape, form_flaw
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


MAX_ROWS = 200
"""Of a table of app data that authors see."""
MAX_FLAWS = 200
SHAPES: dict[Any, Shape] = {str: "text", int: "number", float: "amount", bool: "flag"}


def app_declarations() -> dict[str, AppDeclaration]:
    return {
        name: AppDeclaration(
            app.title, app.signs_in_by, partial(_app_card, name), partial(_tables, name), partial(_flaws, name)
        )
        for name, app in APPS.items()
    }


def _app_card(name: str, content: bytes | None) -> AppCard:
    app = APPS[name]
    example = json.dumps(app.example, ensure_ascii=False, indent=2)
    kinds = tuple(RecordKind(key, table.noun, table.fields, table.columns) for key, table in app.shown.items())
    card = AppCard(name, app.title, app.about, example=example, kinds=kinds)
    if content is None:
        return card
    try:
        state = load_state(name, content)
        problems = tuple(state.problems())
    except AppDataError as error:
        return replace(card, error=str(error))
    return replace(card, tables=tuple(_shown(table) for table in state.shown.values() if len(table)), problems=problems)


def _shown(table: Table[Any]) -> AppTable:
    columns = tuple(dict.fromkeys((table.key, *table.columns)))
    rows = tuple(tuple(_cell(getattr(record, column)) for column in columns) for record in islice(table, MAX_ROWS))
    return AppTable(table.name, columns, rows, len(table))


def _cell(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


@cache
def _tables(name: str) -> tuple[DeclaredTable, ...]:
    state = APPS[name].state_type()
    names = [*state.shown, *(table for table in state.tables if table not in state.shown and table not in HIDDEN)]
    choices = _choices(name)
    return tuple(_declared(state.tables[table], APPS[name].signs_in_by, choices) for table in names)


def _declared(table: Table[Any], signs_in_by: SignsInBy, choices: Mapping[str, tuple[str, ...]]) -> DeclaredTable:
    hints = get_type_hints(table.record_type)
    fields = tuple(
        AppField(
            part,
            _shape(hints[part]),
            part in table.required,
            table.refers.get(part, ""),
            _form(part, signs_in_by),
            choices.get(part, ()),
        )
        for part in table.fields
    )
    return DeclaredTable(table.name, table.noun, fields, table.columns)


def _form(field: str, signs_in_by: SignsInBy) -> Form:
    """Fields are named alike in all apps."""
    if field.endswith("_at"):
        return "moment"
    if field == "birthday" or field.endswith("_date"):
        return "date"
    if field == "time" or field.endswith("_time"):
        return "time"
    if field in ("sender", "receiver", "recipients"):
        return "email" if signs_in_by == "email" else "phone"
    forms: dict[str, Form] = {"email": "email", "phone_number": "phone"}
    return forms.get(field, "")


def _choices(name: str) -> dict[str, tuple[str, ...]]:
    """Fields whose tools take only some words, with these."""
    schemas = [api.arguments.model_json_schema().get("properties", {}) for api in APPS[name].apis.values()]
    return {
        field: tuple(part["enum"])
        for properties in schemas
        for field, schema in properties.items()
        for part in (schema, schema.get("items", {}), *schema.get("anyOf", ()))
        if "enum" in part
    }


def _shape(hint: Any) -> Shape:
    if get_origin(hint) in (Union, UnionType):
        hint = next(part for part in get_args(hint) if part is not NoneType)
    if get_origin(hint) is tuple:
        lists: dict[Any, Shape] = {str: "texts", int: "numbers"}
        return lists.get(get_args(hint)[0], "json")
    return SHAPES.get(hint, "json")


def _flaws(name: str, data: Mapping[str, Any]) -> list[RecordFlaw]:
    state = APPS[name].state_type()
    flaws = [
        RecordFlaw(table.name, row, column, message)
        for table in state.tables.values()
        for row, column, message in table.flaws(data.get(table.name, []))
    ]
    if flaws:
        return flaws[:MAX_FLAWS]
    try:
        complete = APPS[name].new_state(data)
    except AppDataError:  # of the data as a whole, which its reader names
        return []
    fields = {table.name: table.fields for table in _tables(name)}
    for table in complete.tables.values():
        records = list(table)[: len(data.get(table.name, ()))]  # what was completed follows
        for row, record in enumerate(records, start=1):
            flaws += [
                RecordFlaw(table.name, row, column, message, serious=False)
                for column, message in table.dangling_of(record, complete.tables)
            ]
            flaws += [
                RecordFlaw(table.name, row, field.name, flaw, serious=False)
                for field in fields.get(table.name, ())
                if (field.form or field.choices) and (flaw := form_flaw(field, getattr(record, field.name)))
            ]
    return flaws[:MAX_FLAWS]
