"""``python -m studio.dev.migrations``: initial migrations, as Django wrote them, make their tables at once."""

from __future__ import annotations

from pathlib import Path

import django
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.writer import MigrationWriter

from studio.local.schema import APPS


def main() -> None:
    django.setup()
    from studio.models.tables import Tables

    loader = MigrationLoader(None)
    for app in APPS:
        migration = loader.get_migration(app, "0001_initial")
        migration.operations = [Tables(migration.operations)]  # type: ignore[misc]  # Django does it
        writer = MigrationWriter(migration, include_header=False)
        Path(writer.path).write_text(writer.as_string(), encoding="utf-8")


if __name__ == "__main__":
    main()
