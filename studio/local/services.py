"""Database and broker of a process, to be set up before Django reads its settings."""

from __future__ import annotations

import contextlib
import os
import secrets

from studio.local import shared_server
from studio.local.paths import require_data_folder

missing = ""
"""Why this process has no database or broker, and what to do; empty if it has both."""


def ensure_database(*, throwaway: bool = False, wait: bool = True) -> bool:
    """Start the embedded PostgreSQL and set DATABASE_URL, unless it is set; return whether it was not.

    ``throwaway`` is faster but not safe against power loss, for tests. Without ``wait`` it may not answer yet.
    """
    return _ensure("DATABASE_URL", "postgres", throwaway=throwaway, wait=wait)


def ensure_broker(*, wait: bool = True) -> bool:
    """Start the embedded Valkey and set CELERY_BROKER_URL, unless it is set; return whether it was not."""
    return _ensure("CELERY_BROKER_URL", "valkey", throwaway=False, wait=wait)


def ensure_key_secret() -> None:
    """Set STUDIO_KEY_SECRET, which encrypts the keys that people enter, to one kept in the data folder, unless it is
    set. Where servers are named, administrators set it: it must be the same on every machine."""
    if os.environ.get("STUDIO_KEY_SECRET"):
        return
    path = require_data_folder() / "key-secret"
    with (
        contextlib.suppress(FileExistsError),
        os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file,
    ):
        file.write(secrets.token_urlsafe(32))
    os.environ["STUDIO_KEY_SECRET"] = path.read_text()


def _ensure(variable: str, name: str, *, throwaway: bool, wait: bool) -> bool:
    if os.environ.get(variable):
        return False
    os.environ[variable] = shared_server.acquire(name, throwaway=throwaway, wait=wait)
    return True
