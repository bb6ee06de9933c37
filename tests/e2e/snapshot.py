"""Restoring the rows of emptied tables, ten times as fast as creating them again."""

from __future__ import annotations

from django.db import connection, transaction

from tests.emptying import skip_foreign_keys, tables


class Snapshot:
    """The rows of all tables, without generated columns."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, list[bytes]]] = []
        with connection.cursor() as cursor:
            for table in tables():
                cursor.execute(
                    "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute"
                    " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
                    [f'"{table}"'],
                )
                columns = f'"{table}" ({cursor.fetchone()[0]})'
                with cursor.copy(f"COPY {columns} TO STDOUT (FORMAT binary)") as rows:
                    chunks = [bytes(chunk) for chunk in rows]
                if cursor.rowcount:
                    self._rows.append((columns, chunks))

    def restore(self) -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            skip_foreign_keys(cursor)
            for columns, chunks in self._rows:
                with cursor.copy(f"COPY {columns} FROM STDIN (FORMAT binary)") as rows:
                    for chunk in chunks:
                        rows.write(chunk)
