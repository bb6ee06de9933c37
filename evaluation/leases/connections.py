"""Database connections of threads that wait for models."""

from __future__ import annotations

from django.db import connection


def give_back_connection() -> None:
    """Where connections are pooled, let another thread have this one; the next query takes one again."""
    if "pool" in connection.settings_dict["OPTIONS"] and not connection.in_atomic_block:
        connection.close()
