"""Rows written in single statements.

A statement is a transaction of its own, so that what belongs together costs one round trip and one commit. Django's
ways take a transaction with several statements each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models

from studio.models.packing import BytesField
from studio.models.statements import binding_cursor

Fields = tuple[models.Field[Any, Any], ...]


def insert_or_ignore(row: models.Model) -> int | None:
    """The key of the new row, None if a unique constraint has one like it."""
    fields, insert = _insert(type(row))
    own = connections[DEFAULT_DB_ALIAS]
    values = [field.get_db_prep_save(field.pre_save(row, add=True), own) for field in fields]
    with binding_cursor() as cursor:
        cursor.execute(insert, values)
        found = cursor.fetchone()
    return found[0] if found else None


def insert_named(rows: Sequence[models.Model], name: str) -> dict[Any, int]:
    """The keys of the new rows, of one model, by their column ``name``; those that a unique constraint has already are
    left out."""
    with binding_cursor() as cursor:
        document = json.dumps([plain_values(row) for row in rows], ensure_ascii=False)
        cursor.execute(f'{_insert_all(type(rows[0]))} RETURNING "{name}", "id"', [document])
        return dict(cursor.fetchall())


def plain_values(row: models.Model) -> dict[str, Any]:
    """All but the key, by column, as JSON has them."""
    return {str(field.column): _plain(field, field.pre_save(row, add=True)) for field in _fields(type(row))}


def typed_columns(kind: type[models.Model]) -> tuple[str, str, str]:
    """The table, all columns but the key, and these with their types, for ``json_to_recordset``."""
    fields = _fields(kind)
    typed = ", ".join(f'"{field.column}" {field.db_type(connection)}' for field in fields)
    return f'"{kind._meta.db_table}"', _names(fields), typed


def insert_belonging(kind: type[models.Model], source: str, key: str, given: Mapping[str, str]) -> str:
    """A part of a statement, that inserts rows which belong to those of ``source``, a part before it: their JSON (see
    ``plain_values``) is the parameter, with ``of`` for what they belong to, as ``key`` has it.

    ``given`` are columns that come from ``source``, as expressions.
    """
    fields = [field for field in _fields(kind) if field.column not in given]
    typed = ", ".join(f'"{field.column}" {field.db_type(connection)}' for field in fields)
    columns = ", ".join([*(f'"{name}"' for name in given), _names(fields)])
    values = ", ".join([*given.values(), *(f'r."{field.column}"' for field in fields)])
    rows = f'{source} JOIN json_to_recordset(%s::json) AS r("of" bigint, {typed}) ON r."of" = {key}'
    return f'INSERT INTO "{kind._meta.db_table}" ({columns}) SELECT {values} FROM {rows}'  # noqa: S608  # names are the model's


def insert_all_or_ignore(rows: Sequence[models.Model]) -> list[None]:
    """Of one model; those that a unique constraint has already are left out."""
    with binding_cursor() as cursor:
        document = json.dumps([plain_values(row) for row in rows], ensure_ascii=False)
        cursor.execute(_insert_all(type(rows[0])), [document])
    return [None] * len(rows)


@cache
def _insert_all(kind: type[models.Model]) -> str:
    table, names, typed = typed_columns(kind)
    rows = f"json_to_recordset(%s::json) AS r({typed})"
    return f"INSERT INTO {table} ({names}) SELECT {names} FROM {rows} ON CONFLICT DO NOTHING"  # noqa: S608  # likewise


@cache
def _insert(kind: type[models.Model]) -> tuple[Fields, str]:
    fields = _fields(kind)
    marks = ", ".join(["%s"] * len(fields))
    return fields, (
        f'INSERT INTO "{kind._meta.db_table}" ({_names(fields)}) VALUES ({marks}) ON CONFLICT DO NOTHING RETURNING "id"'  # noqa: S608  # names are the model's
    )


def insert_alike(rows: Sequence[models.Model]) -> None:
    """Thousands of rows of one model, alike in most columns, in a fraction of the time of ``bulk_create``. They get no
    keys."""
    if not rows:
        return
    kind = type(rows[0])
    columns = {field: [field.pre_save(row, add=True) for row in rows] for field in _fields(kind)}
    _, *rest = columns  # one at least varies
    alike = [field for field in rest if all(value == columns[field][0] for value in columns[field])]
    other = [field for field in columns if field not in alike]
    document = [
        {field.column: _plain(field, value) for field, value in zip(other, values, strict=True)}
        for values in zip(*(columns[field] for field in other), strict=True)
    ]
    typed = ", ".join(f'"{field.column}" {field.db_type(connection)}' for field in other)
    values = ", ".join([*(f"%s::{field.db_type(connection)}" for field in alike), *(f'r."{f.column}"' for f in other)])
    source = f"json_to_recordset(%s::json) AS r({typed})"
    with binding_cursor() as cursor:
        cursor.execute(
            f'INSERT INTO "{kind._meta.db_table}" ({_names([*alike, *other])}) SELECT {values} FROM {source}',  # noqa: S608  # names are the model's
            [
                *(field.get_db_prep_save(columns[field][0], connection) for field in alike),
                json.dumps(document, ensure_ascii=False),
            ],
        )


def _plain(field: models.Field[Any, Any], value: Any) -> Any:
    """As JSON has it; texts that PostgreSQL reads."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    if isinstance(field, BytesField) and value is not None:
        return f"\\x{field.get_db_prep_save(value, connection).hex()}"
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else str(value)


def _names(fields: Sequence[models.Field[Any, Any]]) -> str:
    return ", ".join(f'"{field.column}"' for field in fields)


@cache
def _fields(kind: type[models.Model]) -> Fields:
    return tuple(field for field in kind._meta.concrete_fields if not field.primary_key)
