from __future__ import annotations

import select
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.db.backends.postgresql import base

_CURSOR = "studio_cursor"
"""Attribute of a pooled connection: the cursor of ``statement_cursor``, which is used again."""


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection that the server closed has something to read: its end. Asking each time would be a round trip for
    every connection taken from the pool, which is a third of what a worker asks of its database."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        while True:
            connection = super().get_new_connection(conn_params)
            if not self.pool or not _is_over(connection):
                return connection
            connection.close()
            self.pool.putconn(connection)  # which makes another in its place

    @contextmanager
    def statement_cursor(self) -> Iterator[Any]:
        """For one statement, of a thread that holds no connection: it has one for that long, without what Django does
        for each that it takes and gives back."""
        with self.wrap_database_errors:
            connection = self.get_new_connection({})
            try:
                if not connection.autocommit:
                    connection.autocommit = True
                cursor = getattr(connection, _CURSOR, None)
                if cursor is None:
                    cursor = psycopg.Cursor(connection)
                    setattr(connection, _CURSOR, cursor)
                yield cursor
            finally:
                connection._pool.putconn(connection)


def _is_over(connection: Any) -> bool:
    poll = select.poll()
    try:
        poll.register(connection.fileno(), select.POLLIN)
    except Exception:  # it knows already that it is closed
        return True
    return bool(poll.poll(0))
