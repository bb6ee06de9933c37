"""Many rows at once: new ones by PostgreSQL's COPY, a fifth of what ``bulk_create`` takes, which writes a statement's
text and has it parsed again by the driver and the database; changed ones from a list of values, where ``bulk_update``
writes a condition for each row and column."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.models.fields.json import JSONField

M = TypeVar("M", bound=models.Model)
Field = models.Field[Any, Any]
FEW = 50
"""Rows that one INSERT stores as fast."""
_UPDATED_AT_ONCE = 500


def create_rows(
    rows: Iterable[M], *, batch_size: int = 1_000, written: Mapping[str, Sequence[str]] | None = None
) -> list[M]:
    """Like ``bulk_create``, for new rows of one model: they get their keys, and no signals are sent. ``batch_size``
    counts where they are few or where their keys are not numbers. ``written``: fields whose JSON is at hand, as the
    texts of all rows."""
    rows = list(rows)
    if not rows:
        return rows
    model = type(rows[0])
    if len(rows) < FEW or not isinstance(model._meta.pk, models.AutoField):
        return model._default_manager.bulk_create(rows, batch_size=batch_size)
    _copy_rows(model, rows, written or {})
    return rows


def copy_values(
    model: type[models.Model], names: Sequence[str], rows: Sequence[Sequence[Any]], *, keyed: bool = False
) -> list[int]:
    """Store rows given as values of the columns ``names`` (``task_id``, not ``task``), which must be all but the key.
    Values are as read from a row, and JSON is made of them where the column has it. Returns the keys if ``keyed``."""
    by_name = {field.attname: field for field in model._meta.local_concrete_fields}
    fields = [by_name[name] for name in names]
    if not rows:
        return []
    keys = _new_keys(model, len(rows)) if keyed else []
    if keyed:
        fields.append(model._meta.pk)
        rows = [(*row, key) for row, key in zip(rows, keys, strict=True)]
    _copy(model, fields, rows)
    return keys


def update_rows(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    """Like ``bulk_update``: store these fields of rows of one model."""
    for start in range(0, len(rows), _UPDATED_AT_ONCE):
        _update(rows[start : start + _UPDATED_AT_ONCE], names)


def _copy_rows(model: type[models.Model], rows: Sequence[models.Model], written: Mapping[str, Sequence[str]]) -> None:
    fields = model._meta.local_concrete_fields
    dated = [field for field in fields if getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)]
    for row, key in zip(rows, _new_keys(model, len(rows)), strict=True):
        if row._state.fields_cache:
            row._prepare_related_fields_for_save(operation_name="create_rows")  # type: ignore[attr-defined]  # as bulk_create does
        for field in dated:
            field.pre_save(row, True)
        row.pk = key
    plain, texts = _parted(fields, written)
    read = attrgetter(*(field.attname for field in plain))
    values = (
        (*read(row), *more) for row, *more in zip(rows, *(written[field.attname] for field in texts), strict=True)
    )
    _copy(model, [*plain, *texts], values, written=len(texts))
    for row in rows:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def _parted(fields: Iterable[Field], names: Collection[str]) -> tuple[list[Field], list[Field]]:
    """The fields without these names, and those with them."""
    fields = list(fields)
    return [field for field in fields if field.attname not in names], [f for f in fields if f.attname in names]


def _copy(
    model: type[models.Model],
    fields: Sequence[Field],
    rows: Iterable[Sequence[Any]],
    *,
    written: int = 0,
) -> None:
    """``written``: how many fields at the end have their JSON as text."""
    own: Any = connections[DEFAULT_DB_ALIAS]
    quote = own.ops.quote_name
    columns = ", ".join(quote(field.column) for field in fields)
    documents = [
        (index, _writer(field))
        for index, field in enumerate(fields[: len(fields) - written])
        if isinstance(field, JSONField)
    ]
    statement = f"COPY {quote(model._meta.db_table)} ({columns}) FROM STDIN"
    with own.cursor() as cursor, own.wrap_database_errors, cursor.copy(statement) as copy:
        for row in rows:
            if documents:
                values = list(row)
                for index, write in documents:
                    if values[index] is not None:
                        values[index] = write(values[index])
                row = values
            copy.write_row(row)


def _writer(field: JSONField) -> Callable[[Any], str]:
    return json.JSONEncoder(ensure_ascii=False).encode if field.encoder is None else field.encoder().encode


def _new_keys(model: type[models.Model], count: int) -> list[int]:
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute(
            "SELECT nextval(sequence) FROM CAST(pg_get_serial_sequence(%s, %s) AS regclass) sequence,"
            " generate_series(1, %s)",
            [model._meta.db_table, model._meta.pk.column, count],
        )
        return [key for (key,) in cursor.fetchall()]


def _update(rows: Sequence[models.Model], names: Sequence[str]) -> None:
    own: Any = connections[DEFAULT_DB_ALIAS]
    meta, quote = rows[0]._meta, own.ops.quote_name
    by_name = {field.name: field for field in meta.local_concrete_fields}
    fields = [meta.pk, *(by_name[name] for name in names)]
    types = [field.rel_db_type(own) if field.primary_key else field.db_type(own) for field in fields]
    first = f"({', '.join(f'%s::{kind}' for kind in types)})"
    others = f", ({', '.join('%s' for _ in fields)})" * (len(rows) - 1)
    columns = [quote(field.column) for field in fields]
    values = [field.get_db_prep_save(getattr(row, field.attname), own) for row in rows for field in fields]
    with own.cursor() as cursor:
        cursor.execute(
            f"UPDATE {quote(meta.db_table)} old SET {', '.join(f'{name} = new.{name}' for name in columns[1:])}"  # noqa: S608 - names of our models
            f" FROM (VALUES {first}{others}) new ({', '.join(columns)}) WHERE old.{columns[0]} = new.{columns[0]}",
            values,
        )
