"""Database connections of threads that wait for models."""

from __future__ import annotations

from django.db import close_old_connections, connection


def give_back_connection() -> None:
    """Where connections are pooled, let another thread have this one; the next query takes one again."""
    if not connection.in_atomic_block:
        close_old_connections()
