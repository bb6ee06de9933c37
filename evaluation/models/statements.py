"""Statements that workers send for every session or call: made once, and prepared by the database.

Django makes a query's SQL anew each time, and writes its values into the text. For what is asked hundreds of times a
second, that costs more than the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.utils import CursorWrapper
from django.db.models.query import get_related_populators


@contextmanager
def binding_cursor() -> Iterator[Any]:
    """A cursor whose values travel beside the statement, so that the database can prepare it: after its first use
    where connections are pooled, never elsewhere. For one statement, whose rows are read within."""
    own: Any = connections[DEFAULT_DB_ALIAS]
    if own.connection is None and not own.queries_logged and (lend := getattr(own, "statement_cursor", None)):
        with lend() as cursor:
            yield cursor
        return
    own.ensure_connection()
    with own.wrap_database_errors:
        bound: Any = psycopg.Cursor(own.connection)
    make = own.make_debug_cursor if own.queries_logged else own.make_cursor
    wrapped: CursorWrapper = make(bound)
    with wrapped:
        yield wrapped


class PreparedQuery:
    """``make`` is called once, with a placeholder for each of its parameters: ``NUMBERS`` and ``TIME``."""

    def __init__(self, make: Callable[..., models.QuerySet[Any]], *marks: Any) -> None:
        self._make = make
        self._marks = marks or NUMBERS[: make.__code__.co_argcount]
        self._compiled: _Compiled | None = None

    def rows(self, *values: Any) -> list[Sequence[Any]]:
        compiled = self._compiled or self._compile()
        given = dict(zip(self._marks, values, strict=True))
        with binding_cursor() as cursor:
            cursor.execute(compiled.sql, [given.get(value, value) for value in compiled.parameters])
            found: list[Sequence[Any]] = cursor.fetchall()
        if compiled.converters:
            return [tuple(row) for row in compiled.compiler.apply_converters(found, compiled.converters)]
        return found

    def exists(self, *values: Any) -> bool:
        return bool(self.rows(*values))

    def objects(self, *values: Any) -> list[Any]:
        """Of a queryset of models, with those of ``select_related``."""
        rows = self.rows(*values)
        assert self._compiled is not None
        return self._compiled.objects(rows)

    def _compile(self) -> _Compiled:
        self._compiled = _Compiled(self._make(*self._marks))
        return self._compiled


NUMBERS = tuple(range(2_000_000_001, 2_000_000_009))
TIME = datetime(1, 1, 1, tzinfo=UTC)


class _Compiled:
    def __init__(self, queryset: models.QuerySet[Any]) -> None:
        self.compiler: Any = queryset.query.get_compiler(connection=connection)
        self.sql, self.parameters = self.compiler.as_sql()
        fields = [entry[0] for entry in self.compiler.select[: self.compiler.col_count]]
        self.converters: Mapping[int, Any] = self.compiler.get_converters(fields)

    def objects(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        kind = self.compiler.klass_info
        places = kind["select_fields"]
        start, end = places[0], places[-1] + 1
        names = [entry[0].target.attname for entry in self.compiler.select[start:end]]
        others = get_related_populators(kind, self.compiler.select, connection.alias)  # type: ignore[call-arg]  # stubs of 6.1
        found = []
        for row in rows:
            one = kind["model"].from_db(connection.alias, names, row[start:end])
            for other in others:
                other.populate(row, one)
            found.append(one)
        return found
