"""Database and broker of a process, to be set up before Django reads its settings."""

from __future__ import annotations

import os

from studio.local import shared_server

missing = ""
"""Why this process has no database or broker, and what to do; empty if it has both."""


def ensure_database(*, throwaway: bool = False) -> bool:
    """Start the embedded PostgreSQL and set DATABASE_URL, unless it is set; return whether it was not.

    ``throwaway`` is faster but not safe against power loss, for tests.
    """
    return _ensure("DATABASE_URL", "postgres", throwaway=throwaway)


def ensure_broker() -> bool:
    """Start the embedded Valkey and set CELERY_BROKER_URL, unless it is set; return whether it was not."""
    return _ensure("CELERY_BROKER_URL", "valkey", throwaway=False)


def _ensure(variable: str, name: str, *, throwaway: bool) -> bool:
    if os.environ.get(variable):
        return False
    os.environ[variable] = shared_server.acquire(name, throwaway=throwaway)
    return True
