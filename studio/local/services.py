"""What a process calls before Django reads its settings, so that there is a database and a broker."""

from __future__ import annotations

import os

from studio.local import ownership

missing = ""
"""Why this process has no database or no broker, and what to do; empty: it has them."""


def ensure_database(*, throwaway: bool = False) -> bool:
    """Set DATABASE_URL to the embedded PostgreSQL, up as long as this process lives, unless another is named.

    True if it is the embedded one. Throwaway: faster, and lost in a power failure; for tests.
    """
    return _ensure("DATABASE_URL", "postgres", throwaway=throwaway)


def ensure_broker() -> bool:
    """Set CELERY_BROKER_URL to the embedded Valkey, up as long as this process lives, unless another is named."""
    return _ensure("CELERY_BROKER_URL", "valkey", throwaway=False)


def _ensure(variable: str, name: str, *, throwaway: bool) -> bool:
    if os.environ.get(variable):
        return False
    os.environ[variable] = ownership.use(name, throwaway=throwaway)
    return True
