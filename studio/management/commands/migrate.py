"""`manage.py migrate`: Django's, which refuses a database that other initial migrations made."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections, transaction
from django.db.migrations.recorder import MigrationRecorder

from studio.local.schema import initial_migrations

OTHER = (
    "An earlier version of the studio made this database, and this version cannot carry it on. To carry a benchmark "
    "over, run `manage.py pibench_export` with the version that made it, and `manage.py pibench_import` with this one "
    "on a new database (STUDIO_DATA_DIR or DATABASE_URL names it); approvals, pilots and audits stay behind."
)
RECORDS = "to_regclass('django_migrations')"


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        """The records of migrations bear the mark of the initial ones from the start."""
        connection, mark = connections[options["database"]], initial_migrations()
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.execute(f"SELECT {RECORDS} IS NULL, obj_description({RECORDS}, 'pg_class')")
            empty, found = cursor.fetchone()
            if not empty and found != mark:
                raise CommandError(OTHER)
            if empty:
                MigrationRecorder(connection).ensure_schema()
                cursor.execute(f"COMMENT ON TABLE django_migrations IS '{mark}'")
        super().handle(*args, **options)
