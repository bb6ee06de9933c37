"""Tables whose rows the database refuses to update; deleting a whole benchmark still works."""

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
    return RunSQL(
        f'CREATE TRIGGER "{table}_frozen" BEFORE UPDATE ON "{table}" FOR EACH ROW EXECUTE FUNCTION refuse_update();',
        f'DROP TRIGGER "{table}_frozen" ON "{table}";',
    )
