"""Statements that are sent again and again: made once, and prepared by the database.

Django makes a query's SQL anew each time, and writes its values into the text. For what every page or session asks,
that costs more than the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    """``make`` is called once, with a placeholder for each of its parameters: ``NUMBERS``, ``TIME`` or a word. Other
    values stand in the statement, where the database sees which indexes serve them."""

    def __init__(self, make: Callable[..., models.QuerySet[Any, Any]], *marks: Any) -> None:
        self._make = make
        self._marks = marks or NUMBERS[: make.__code__.co_argcount]
        self._compiled: _Compiled | None = None

    def rows(self, *values: Any, most: int | None = None) -> list[Sequence[Any]]:
        """``most``: rows to read; of a queryset that is no slice."""
        compiled = self._compiled or self._compile()
        given = [values[place] for place in compiled.places]
        with binding_cursor() as cursor:
            if most is None:
                cursor.execute(compiled.sql, given)
            else:
                cursor.execute(f"{compiled.sql} LIMIT %s", [*given, most])
            found: list[Sequence[Any]] = cursor.fetchall()
        if compiled.converters:
            return [tuple(row) for row in compiled.compiler.apply_converters(found, compiled.converters)]
        return found

    def exists(self, *values: Any) -> bool:
        return bool(self.rows(*values))

    def pairs(self, *values: Any) -> list[tuple[Any, Any]]:
        """Of a queryset of two columns."""
        return [(first, second) for first, second in self.rows(*values)]

    def values(self, *values: Any, most: int | None = None) -> list[Any]:
        """The first column."""
        return [row[0] for row in self.rows(*values, most=most)]

    def objects(self, *values: Any, most: int | None = None) -> list[Any]:
        """Of a queryset of models, with those of ``select_related``, and their annotations."""
        rows = self.rows(*values, most=most)
        assert self._compiled is not None
        return self._compiled.objects(rows)

    def first(self, *values: Any) -> Any:
        """The first object; None without any."""
        return next(iter(self.objects(*values)), None)

    def by_key(self, keys: Iterable[int]) -> dict[int, Any]:
        """Objects of a queryset whose only parameter is their keys."""
        wanted = list(keys)
        return {one.pk: one for one in self.objects(wanted)} if wanted else {}

    def _compile(self) -> _Compiled:
        self._compiled = _Compiled(self._make(*self._marks), self._marks)
        return self._compiled


NUMBERS = tuple(range(2_000_000_001, 2_000_000_009))
TIME = datetime(1, 1, 1, tzinfo=UTC)


class AnyOf(models.Func):
    """For ``filter(AnyOf("pk", mark))``: the mark stands for a list of keys."""

    template = "%(expressions)s::bigint[])"
    arg_joiner = " = ANY("
    output_field = models.BooleanField()

    def __init__(self, field: str, mark: int) -> None:
        super().__init__(models.F(field), models.Value(mark))


class _Compiled:
    def __init__(self, queryset: models.QuerySet[Any, Any], marks: Sequence[Any]) -> None:
        self.compiler: Any = queryset.query.get_compiler(connection=connection)
        text, parameters = self.compiler.as_sql()
        self.places: list[int] = []
        """Of each parameter of the statement, among the given values."""
        self.sql = self._with_constants(text, iter(parameters), list(marks))
        fields = [entry[0] for entry in self.compiler.select[: self.compiler.col_count]]
        self.converters: Mapping[int, Any] = self.compiler.get_converters(fields)

    def _with_constants(self, text: str, parameters: Iterator[Any], marks: list[Any]) -> str:
        def replace(match: re.Match[str]) -> str:
            if match[0] == "%%":
                return "%%"
            value = next(parameters)
            if value in marks:
                self.places.append(marks.index(value))
                return "%s"
            return psycopg.sql.Literal(value).as_string().replace("%", "%%")

        return re.sub(r"%[%s]", replace, text)

    def objects(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        kind = self.compiler.klass_info
        places = kind["select_fields"]
        start, end = places[0], places[-1] + 1
        names = [entry[0].target.attname for entry in self.compiler.select[start:end]]
        others = get_related_populators(kind, self.compiler.select, connection.alias)  # type: ignore[call-arg]  # stubs of 6.1
        annotations = list(self.compiler.annotation_col_map.items())
        found = []
        for row in rows:
            one = kind["model"].from_db(connection.alias, names, row[start:end])
            for other in others:
                other.populate(row, one)
            for name, place in annotations:
                setattr(one, name, row[place])
            found.append(one)
        return found
