"""Simulated apps as authors read and edit their data, from the same declarations that agents act on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from evaluation.tools.apps import AppDataError, World
from evaluation.tools.apps.catalog import APPS
from evaluation.tools.apps.framework.tables import Table
from studio.domain.app_data import AppCard, AppDeclaration, AppTable, RecordKind
from studio.domain.app_tables.declared import AppField, DeclaredTable, RecordFlaw, Shape

MAX_ROWS = 200
"""Of a table of app data that authors see."""
MAX_FLAWS = 200
HIDDEN = ("tokens",)
SHAPES: dict[Any, Shape] = {str: "text", int: "number", float: "amount", bool: "flag"}


def app_declarations() -> dict[str, AppDeclaration]:
    return {
        name: AppDeclaration(
            app.view.title, app.signs_in_by, partial(_app_card, name), partial(_tables, name), partial(_flaws, name)
        )
        for name, app in APPS.items()
    }


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


@cache
def _tables(name: str) -> tuple[DeclaredTable, ...]:
    state, views = APPS[name].state_type(), APPS[name].view.tables
    names = [*views, *(table for table in state.tables if table not in views and table not in HIDDEN)]
    return tuple(_declared(state.tables[table], views[table].columns if table in views else ()) for table in names)


def _declared(table: Table[Any], columns: tuple[str, ...]) -> DeclaredTable:
    hints = get_type_hints(table.record_type)
    fields = tuple(
        AppField(part, _shape(hints[part]), part in table.required, table.refers.get(part, "")) for part in table.fields
    )
    return DeclaredTable(table.name, table.noun, fields, columns)


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
    for table in complete.tables.values():
        records = list(table)[: len(data.get(table.name, ()))]  # what was completed follows
        for row, record in enumerate(records, start=1):
            flaws += [
                RecordFlaw(table.name, row, column, message, serious=False)
                for column, message in table.dangling_of(record, complete.tables)
            ]
    return flaws[:MAX_FLAWS]
