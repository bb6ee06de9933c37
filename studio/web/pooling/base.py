from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base


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


def _is_over(connection: Any) -> bool:
    poll = select.poll()
    try:
        poll.register(connection.fileno(), select.POLLIN)
    except Exception:  # it knows already that it is closed
        return True
    return bool(poll.poll(0))
