"""Automatic migration of the embedded database."""

from __future__ import annotations

import fcntl
import hashlib
import sys
from pathlib import Path

from studio.local.paths import CHECKOUT, LocalError, data_folder

APPS = ("studio", "annotations", "evaluation")
COMMANDS_WITHOUT_TABLES = {"migrate", "makemigrations", "showmigrations", "sqlmigrate", "squashmigrations", "check"} | {
    "diffsettings",
    "dbshell",
    "flush",
    "spectacular",
    "scripted_model",
    "run",
}


def migrate_if_needed(command: str) -> None:
    """Apply missing migrations before a command that uses tables.

    Reads some small files if there are none. Concurrent calls wait for each other. Raises LocalError if an earlier
    version made the database.
    """
    stamp = data_folder() / "postgres" / "migrated"
    current = _fingerprint()
    if command in COMMANDS_WITHOUT_TABLES or (stamp.exists() and stamp.read_text() == current):
        return
    with stamp.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if file.read() == current:
            return
        import django
        from django.core.management import CommandError, call_command

        django.setup()
        try:
            call_command("migrate", verbosity=0, interactive=False, stdout=sys.stderr)
        except CommandError as error:
            raise LocalError(str(error)) from None
        file.seek(0)
        file.truncate()
        file.write(current)


def initial_migrations() -> str:
    """A hash of what makes the tables of an empty database: a database with another one has other tables."""
    names = ("0001_initial.py", "0002_triggers.py", "*.sql")
    files = sorted(file for app in APPS for name in names for file in Path(CHECKOUT, app, "migrations").glob(name))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]


def _fingerprint() -> str:
    import django

    files = sorted(file for app in APPS for file in Path(CHECKOUT, app, "migrations").glob("*.py"))
    digest = hashlib.sha256((django.__version__ + initial_migrations()).encode())
    for file in files:
        digest.update(str(file.relative_to(CHECKOUT)).encode())
    # These decide which other packages bring tables, and in which versions.
    for name in ("requirements.lock", "studio/settings.py"):
        digest.update(Path(CHECKOUT, name).read_bytes())
    return digest.hexdigest() + "\n"
