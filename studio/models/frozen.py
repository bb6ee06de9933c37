"""Rows that are written once: the database itself refuses to change them.

Deleting a whole benchmark still works; rewriting its history does not.
"""

from __future__ import annotations

from django.db.migrations import RunSQL

CREATE_FUNCTION = """
CREATE OR REPLACE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is frozen: its rows are never changed', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def freeze(table: str) -> RunSQL:
    """A migration operation after which rows of ``table`` can be added and deleted, but not changed."""
    return RunSQL(
        f'CREATE TRIGGER "{table}_frozen" BEFORE UPDATE ON "{table}" FOR EACH ROW EXECUTE FUNCTION refuse_update();',
        f'DROP TRIGGER "{table}_frozen" ON "{table}";',
    )
