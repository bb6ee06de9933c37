"""What constraints cannot say: frozen rows, and dependencies that come earlier in the same episode."""

from django.db import migrations

from studio.models.frozen import CREATE_FUNCTION, freeze

# Deferred to the end of the transaction, so that a reordering or an import may pass through other states.
DEPENDENCY_ORDER = """
CREATE FUNCTION check_dependency_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bad record;
BEGIN
  SELECT later.task_id AS task, earlier.task_id AS requires INTO bad
    FROM studio_dependency d
    JOIN studio_task later ON later.id = d.task_id
    JOIN studio_task earlier ON earlier.id = d.requires_id
   WHERE (TG_TABLE_NAME = 'studio_dependency' AND d.id = NEW.id
          OR TG_TABLE_NAME = 'studio_task' AND NEW.id IN (d.task_id, d.requires_id))
     AND (later.episode_id <> earlier.episode_id
          OR later.position IS NULL OR earlier.position IS NULL
          OR earlier.position >= later.position)
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'task % requires %, which is not earlier in the same episode', bad.task, bad.requires
      USING ERRCODE = 'check_violation', CONSTRAINT = 'dependency_earlier';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER dependency_earlier AFTER INSERT OR UPDATE ON studio_dependency
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_dependency_order();
CREATE CONSTRAINT TRIGGER task_order_keeps_dependencies AFTER UPDATE OF position, episode_id ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION check_dependency_order();
"""

UNDO = """
DROP TRIGGER task_order_keeps_dependencies ON studio_task;
DROP TRIGGER dependency_earlier ON studio_dependency;
DROP FUNCTION check_dependency_order();
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0001_initial")]

    operations = [
        migrations.RunSQL(CREATE_FUNCTION, "DROP FUNCTION refuse_update();"),
        *[
            freeze(f"studio_{table}")
            for table in ("blob", "revision", "personarevision", "event", "review")
        ],
        migrations.RunSQL(DEPENDENCY_ORDER, UNDO),
    ]
