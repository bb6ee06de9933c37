"""Assignments know their benchmark and whether their task is open, kept by triggers: to count who has how much to do, the
assignments alone are read."""

# ruff: noqa: S608

import django.db.models.deletion
from django.db import migrations, models

DONE = "('approved', 'released', 'retired')"
EXISTING = f"""
UPDATE studio_assignment a SET benchmark_id = p.benchmark_id, open = t.state NOT IN {DONE}
  FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id JOIN studio_persona p ON p.id = e.persona_id
 WHERE t.id = a.task_id;
"""
TRIGGERS = f"""
CREATE FUNCTION place_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT p.benchmark_id, t.state NOT IN {DONE} INTO NEW.benchmark_id, NEW.open
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id JOIN studio_persona p ON p.id = e.persona_id
   WHERE t.id = NEW.task_id;
  RETURN NEW;
END $$;
CREATE TRIGGER assignment_placed BEFORE INSERT OR UPDATE OF task_id ON studio_assignment
  FOR EACH ROW EXECUTE FUNCTION place_assignment();

CREATE FUNCTION open_assignments_of_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE studio_assignment SET open = NEW.state NOT IN {DONE} WHERE task_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_open AFTER UPDATE OF state ON studio_task
  FOR EACH ROW WHEN ((OLD.state IN {DONE}) IS DISTINCT FROM (NEW.state IN {DONE}))
  EXECUTE FUNCTION open_assignments_of_task();

CREATE FUNCTION move_assignments_of_persona() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE studio_assignment a SET benchmark_id = NEW.benchmark_id
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
   WHERE t.id = a.task_id AND e.persona_id = NEW.id;
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_move AFTER UPDATE OF benchmark_id ON studio_persona
  FOR EACH ROW WHEN (OLD.benchmark_id <> NEW.benchmark_id) EXECUTE FUNCTION move_assignments_of_persona();

-- whether somebody may be assigned is asked again only when it may have changed
DROP TRIGGER assigned_may ON studio_assignment;
CREATE TRIGGER assigned_may BEFORE INSERT OR UPDATE OF task_id, user_id, part ON studio_assignment
  FOR EACH ROW EXECUTE FUNCTION check_assignment();
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0034_persona_summaries")]

    operations = [
        migrations.AddField(
            "assignment",
            "benchmark",
            models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="studio.benchmark",
            ),
        ),
        migrations.AddField("assignment", "open", models.BooleanField(default=True, editable=False)),
        migrations.RunSQL(EXISTING, migrations.RunSQL.noop),
        migrations.RunSQL("SET CONSTRAINTS ALL IMMEDIATE", migrations.RunSQL.noop),
        migrations.AddIndex(
            "assignment",
            models.Index(
                condition=models.Q(("open", True)), fields=["benchmark", "user", "part"], name="assignment_open"
            ),
        ),
        migrations.RunSQL(TRIGGERS, migrations.RunSQL.noop),
    ]
