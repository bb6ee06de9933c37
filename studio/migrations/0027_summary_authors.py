"""Summaries also have who wrote the newest version and when the task changed: to-do lists and search sort by them."""

from django.db import migrations, models

FUNCTIONS = """
CREATE OR REPLACE FUNCTION summarize_tasks(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO studio_tasksummary AS s (task_id, persona_id, position, name, "group", state, category, trigger_kind,
                                       updated_at, last_author, skills, local, persistent, rubric, rule, files, errors,
                                       warnings, hints, needs, tools)
  SELECT t.id, e.persona_id, t.position, t.task_id, t.group_id, t.state, t.category, t.trigger_kind, t.updated_at,
         r.created_by_id, ARRAY(SELECT json_array_elements_text(t.skills)), 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}'
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id
    LEFT JOIN studio_revision r ON r.task_id = t.id AND r.number = t.version
   WHERE t.id = ANY(keys) ORDER BY t.id
  ON CONFLICT (task_id) DO UPDATE
    SET persona_id = excluded.persona_id, position = excluded.position, name = excluded.name,
        "group" = excluded."group", state = excluded.state, category = excluded.category,
        trigger_kind = excluded.trigger_kind, updated_at = excluded.updated_at, last_author = excluded.last_author,
        skills = excluded.skills;
END $$;

CREATE OR REPLACE FUNCTION summarize_changed_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(n.id) INTO keys FROM new_rows n JOIN old_rows o USING (id)
   WHERE (n.episode_id, n.position, n.task_id, n.group_id, n.state, n.category, n.trigger_kind, n.updated_at, n.version,
          n.skills::text)
         IS DISTINCT FROM
         (o.episode_id, o.position, o.task_id, o.group_id, o.state, o.category, o.trigger_kind, o.updated_at, o.version,
          o.skills::text);
  IF keys IS NOT NULL THEN PERFORM summarize_tasks(keys); END IF;
  SELECT array_agg(n.id) INTO keys FROM new_rows n JOIN old_rows o USING (id)
   WHERE (n.tools::text, n.tool_evidence::text) IS DISTINCT FROM (o.tools::text, o.tool_evidence::text);
  IF keys IS NOT NULL THEN PERFORM summarize_tools(keys); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_new_versions() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(DISTINCT task_id) INTO keys FROM new_rows;
  IF keys IS NOT NULL THEN PERFORM summarize_tasks(keys); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER summary_of_version AFTER INSERT ON studio_revision
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION summarize_new_versions();
"""
EXISTING = """
UPDATE studio_tasksummary s SET updated_at = t.updated_at, last_author = r.created_by_id
  FROM studio_task t LEFT JOIN studio_revision r ON r.task_id = t.id AND r.number = t.version WHERE t.id = s.task_id;
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0026_task_summaries")]

    operations = [
        migrations.AddField("tasksummary", "updated_at", models.DateTimeField(null=True)),
        migrations.AddField("tasksummary", "last_author", models.BigIntegerField(null=True)),
        migrations.AddIndex(
            "event",
            models.Index(
                condition=~models.Q(persona__isnull=False, verb__in=["imported", "approved_elsewhere"]),
                fields=["benchmark", "-at"],
                name="event_of_feed",
            ),
        ),
        migrations.RunSQL(FUNCTIONS, migrations.RunSQL.noop),
        migrations.RunSQL(EXISTING, migrations.RunSQL.noop),
    ]
