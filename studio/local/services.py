"""What a process calls before Django reads its settings, so that there is a database and a broker."""

from __future__ import annotations

import os

from studio.local import keeper


def ensure_database(*, throwaway: bool = False) -> None:
    """Set DATABASE_URL to the embedded PostgreSQL, up as long as this process lives, unless another is named."""
    _ensure("DATABASE_URL", "postgres", throwaway=throwaway)


def ensure_broker() -> None:
    """Set CELERY_BROKER_URL to the embedded Valkey, up as long as this process lives, unless another is named."""
    _ensure("CELERY_BROKER_URL", "valkey", throwaway=False)


def _ensure(variable: str, name: str, *, throwaway: bool) -> None:
    if not os.environ.get(variable):
        os.environ[variable] = keeper.use(name, throwaway=throwaway)
