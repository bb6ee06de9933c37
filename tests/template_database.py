"""A migrated database that those of the test run's workers are copies of; it stays until the migrations change."""

from __future__ import annotations

import hashlib
from contextlib import suppress

from django.core.management import call_command
from django.db import DatabaseError, connection

from studio.local.paths import CHECKOUT

PREFIX = "studio_migrated_"


def migrated_database() -> str:
    """Its name. Made by the first process that asks; others wait."""
    name = PREFIX + _fingerprint()
    with connection._nodb_cursor() as cursor:  # type: ignore[attr-defined]
        cursor.execute("SELECT pg_advisory_lock(2)")
        cursor.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [PREFIX])
        existing = {row[0] for row in cursor.fetchall()}
        if name not in existing:
            for old in existing:
                with suppress(DatabaseError):  # another run copies it just now
                    cursor.execute(f'DROP DATABASE "{old}"')
            cursor.execute(f'CREATE DATABASE "{PREFIX}new"')
            _migrate(f"{PREFIX}new")
            cursor.execute(f'ALTER DATABASE "{PREFIX}new" RENAME TO "{name}"')
    return name


def _migrate(name: str) -> None:
    usual = connection.settings_dict["NAME"]
    connection.close()
    connection.settings_dict["NAME"] = name
    try:
        call_command("migrate", verbosity=0, interactive=False)
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def _fingerprint() -> str:
    found = hashlib.sha256((CHECKOUT / "requirements.lock").read_bytes())  # some apps are libraries
    for path in sorted([*CHECKOUT.glob("*/migrations/*.py"), *CHECKOUT.glob("*/migrations/*.sql")]):
        found.update(str(path.relative_to(CHECKOUT)).encode() + path.read_bytes())
    return found.hexdigest()[:12]
