"""``python -m studio.dev.migrations``: indexes and constraints of initial migrations move to where their table is made.

Django renders the models of all apps again for each operation of a migration, which is most of the time that making the
tables takes. Its optimizer joins an index with its table only where nothing stands between them.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import django
from django.db.migrations import AddConstraint, AddField, AddIndex, CreateModel
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.migrations.optimizer import MigrationOptimizer
from django.db.migrations.writer import MigrationWriter

from studio.local.schema import APPS


def main() -> None:
    django.setup()
    loader = MigrationLoader(None)
    for app in APPS:
        migration = loader.get_migration(app, "0001_initial")
        late = {row.model_name_lower for row in migration.operations if isinstance(row, AddField)}
        of_tables: dict[str, list[Operation]] = defaultdict(list)
        for row in migration.operations:
            if isinstance(row, AddIndex | AddConstraint) and row.model_name_lower not in late:
                of_tables[row.model_name_lower].append(row)
        moved = [row for rows in of_tables.values() for row in rows]
        operations: list[Operation] = []
        for row in migration.operations:
            if row not in moved:
                operations += [row, *(of_tables[row.name_lower] if isinstance(row, CreateModel) else [])]
        migration.operations = MigrationOptimizer().optimize(operations, app)  # type: ignore[misc]  # Django does it
        writer = MigrationWriter(migration, include_header=False)
        Path(writer.path).write_text(writer.as_string(), encoding="utf-8")


if __name__ == "__main__":
    main()
