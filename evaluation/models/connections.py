"""Database connections of threads that wait for models."""

from __future__ import annotations

from django.db import DEFAULT_DB_ALIAS, connections


def give_back_connection() -> None:
    """Where connections are pooled, let another thread have this one; the next query takes one again."""
    own = connections[DEFAULT_DB_ALIAS]
    if own.connection is not None and "pool" in own.settings_dict["OPTIONS"] and not own.in_atomic_block:
        own.close()
