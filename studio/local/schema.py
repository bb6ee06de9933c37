"""The tables of the embedded database, kept up to date without anybody asking."""

from __future__ import annotations

import fcntl
import hashlib
import sys
from pathlib import Path

from studio.local.paths import CHECKOUT, data_folder

APPS = ("studio", "annotations", "evaluation")
TABLES_COME_LATER = {"migrate", "makemigrations", "showmigrations", "sqlmigrate", "squashmigrations", "check"} | {
    "diffsettings",
    "dbshell",
    "flush",
    "spectacular",
    "scripted_model",
    "run",
}


def migrate_if_needed(command: str) -> None:
    """Before a command that works on tables: apply what was not applied to the embedded database yet.

    Costs one small file's reading when there is nothing to do. Two processes wait for each other.
    """
    note = data_folder() / "postgres" / "migrated"
    wanted = _fingerprint()
    if command in TABLES_COME_LATER or (note.exists() and note.read_text() == wanted):
        return
    with note.open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if file.read() == wanted:
            return
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0, interactive=False, stdout=sys.stderr)
        file.seek(0)
        file.truncate()
        file.write(wanted)


def _fingerprint() -> str:
    import django

    files = sorted(file for app in APPS for file in Path(CHECKOUT, app, "migrations").glob("*.py"))
    digest = hashlib.sha256(django.__version__.encode())
    for file in files:
        digest.update(str(file.relative_to(CHECKOUT)).encode())
    # Which other packages bring tables, and in which versions.
    for name in ("requirements.lock", "studio/settings.py"):
        digest.update(Path(CHECKOUT, name).read_bytes())
    return digest.hexdigest() + "\n"
