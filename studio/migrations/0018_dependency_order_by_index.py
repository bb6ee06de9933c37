"""The order of dependencies is checked by index: moving a board of 300 tasks scanned all dependencies for each task."""

from django.db import migrations

BY_INDEX = """
CREATE OR REPLACE FUNCTION check_dependency_order() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  bad record;
BEGIN
  IF TG_TABLE_NAME = 'studio_dependency' THEN
    SELECT later.task_id AS task, earlier.task_id AS requires INTO bad
      FROM studio_dependency d
      JOIN studio_task later ON later.id = d.task_id
      JOIN studio_task earlier ON earlier.id = d.requires_id
     WHERE d.id = NEW.id
       AND (later.episode_id <> earlier.episode_id
            OR later.position IS NULL OR earlier.position IS NULL
            OR earlier.position >= later.position);
  ELSE
    SELECT * INTO bad FROM (
      SELECT later.task_id AS task, earlier.task_id AS requires
        FROM studio_task later
        JOIN studio_dependency d ON d.task_id = later.id
        JOIN studio_task earlier ON earlier.id = d.requires_id
       WHERE later.id = NEW.id
         AND (later.episode_id <> earlier.episode_id
              OR later.position IS NULL OR earlier.position IS NULL
              OR earlier.position >= later.position)
       UNION ALL
      SELECT later.task_id, earlier.task_id
        FROM studio_task earlier
        JOIN studio_dependency d ON d.requires_id = earlier.id
        JOIN studio_task later ON later.id = d.task_id
       WHERE earlier.id = NEW.id
         AND (later.episode_id <> earlier.episode_id
              OR later.position IS NULL OR earlier.position IS NULL
              OR earlier.position >= later.position)
    ) pairs LIMIT 1;
  END IF;
  IF FOUND THEN
    RAISE EXCEPTION 'task % requires %, which is not earlier in the same episode', bad.task, bad.requires
      USING ERRCODE = 'check_violation', CONSTRAINT = 'dependency_earlier';
  END IF;
  RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0001_squashed_0017_authoring")]

    operations = [migrations.RunSQL(BY_INDEX, migrations.RunSQL.noop)]
