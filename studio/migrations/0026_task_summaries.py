"""A narrow row for each task, kept by triggers: lists and counts no longer join and sort all parts of all tasks."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Each function first locks the rows it will write, in order, and counts in a statement of its own after that: two
# transactions that change one task then count one after the other, and the second sees what the first committed.
FUNCTIONS = """
CREATE FUNCTION summarize_findings(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET errors = c.errors, warnings = c.warnings, hints = c.hints
    FROM (SELECT k.id, count(f.id) FILTER (WHERE f.severity = 'error') AS errors,
                 count(f.id) FILTER (WHERE f.severity = 'warning') AS warnings,
                 count(f.id) FILTER (WHERE f.severity = 'hint') AS hints
            FROM unnest(keys) k(id)
            LEFT JOIN studio_finding f ON f.task_id = k.id AND NOT CASE f.severity WHEN 'error'
              THEN EXISTS (SELECT FROM studio_setaside w WHERE w.task_id = k.id AND w.fingerprint = f.fingerprint)
              ELSE EXISTS (SELECT FROM studio_waiver w WHERE w.task_id = k.id AND w.fingerprint = f.fingerprint) END
           GROUP BY k.id) c
   WHERE s.task_id = c.id AND (s.errors, s.warnings, s.hints) IS DISTINCT FROM (c.errors, c.warnings, c.hints);
END $$;

CREATE FUNCTION summarize_intents(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET local = c.local, persistent = c.persistent
    FROM (SELECT k.id, count(i.id) FILTER (WHERE i.scope <> 'persistent') AS local,
                 count(i.id) FILTER (WHERE i.scope = 'persistent') AS persistent
            FROM unnest(keys) k(id) LEFT JOIN studio_hiddenintent i ON i.task_id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND (s.local, s.persistent) IS DISTINCT FROM (c.local, c.persistent);
END $$;

CREATE FUNCTION summarize_items(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET rubric = c.rubric, rule = c.rule
    FROM (SELECT k.id, count(i.id) FILTER (WHERE i.grader <> 'rule') AS rubric,
                 count(i.id) FILTER (WHERE i.grader = 'rule') AS rule
            FROM unnest(keys) k(id) LEFT JOIN studio_checklistitem i ON i.task_id = k.id AND i.criterion <> ''
           GROUP BY k.id) c
   WHERE s.task_id = c.id AND (s.rubric, s.rule) IS DISTINCT FROM (c.rubric, c.rule);
END $$;

CREATE FUNCTION summarize_files(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET files = c.files
    FROM (SELECT k.id, count(a.id) AS files
            FROM unnest(keys) k(id) LEFT JOIN studio_asset a ON a.task_id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND s.files <> c.files;
END $$;

CREATE FUNCTION summarize_needs(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET needs = c.needs
    FROM (SELECT k.id, coalesce(array_agg(d.requires_id ORDER BY d.position, d.id) FILTER (WHERE d.id IS NOT NULL),
                                '{}') AS needs
            FROM unnest(keys) k(id) LEFT JOIN studio_dependency d ON d.task_id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND s.needs <> c.needs;
END $$;

CREATE FUNCTION summarize_tools(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_tasksummary WHERE task_id = ANY(keys) ORDER BY task_id FOR NO KEY UPDATE;
  UPDATE studio_tasksummary s SET tools = c.tools
    FROM (SELECT k.id, coalesce(array_agg(DISTINCT regexp_replace(trim(m.name), '^mcp_appworld_', ''))
                                FILTER (WHERE m.name <> ''), '{}') AS tools
            FROM unnest(keys) k(id) LEFT JOIN (
              SELECT t.id, json_array_elements_text(t.tools) AS name FROM studio_task t WHERE t.id = ANY(keys)
              UNION ALL SELECT t.id, shown ->> 'tool' FROM studio_task t, json_array_elements(t.tool_evidence) shown
                WHERE t.id = ANY(keys)
              UNION ALL SELECT i.task_id, i.rule ->> 'tool' FROM studio_checklistitem i
                WHERE i.task_id = ANY(keys) AND i.rule IS NOT NULL
              UNION ALL SELECT i.task_id, split_part(recovery ->> 'ref', '.', 1)
                FROM studio_hiddenintent i, json_array_elements(i.recoverable_from) recovery
                WHERE i.task_id = ANY(keys) AND recovery ->> 'kind' = 'tool'
            ) m ON m.id = k.id GROUP BY k.id) c
   WHERE s.task_id = c.id AND s.tools <> c.tools;
END $$;

CREATE FUNCTION summarize_tasks(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO studio_tasksummary AS s (task_id, persona_id, position, name, "group", state, category, trigger_kind,
                                       skills, local, persistent, rubric, rule, files, errors, warnings, hints, needs,
                                       tools)
  SELECT t.id, e.persona_id, t.position, t.task_id, t.group_id, t.state, t.category, t.trigger_kind,
         ARRAY(SELECT json_array_elements_text(t.skills)), 0, 0, 0, 0, 0, 0, 0, 0, '{}', '{}'
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id WHERE t.id = ANY(keys) ORDER BY t.id
  ON CONFLICT (task_id) DO UPDATE
    SET persona_id = excluded.persona_id, position = excluded.position, name = excluded.name,
        "group" = excluded."group", state = excluded.state, category = excluded.category,
        trigger_kind = excluded.trigger_kind, skills = excluded.skills;
END $$;
"""

TRIGGERS = """
CREATE FUNCTION summarize_new_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(id) INTO keys FROM new_rows;
  PERFORM summarize_tasks(keys);
  SELECT array_agg(id) INTO keys FROM new_rows WHERE tools::text <> '[]' OR tool_evidence::text <> '[]';
  IF keys IS NOT NULL THEN PERFORM summarize_tools(keys); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER summary_of_new AFTER INSERT ON studio_task
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION summarize_new_tasks();

CREATE FUNCTION summarize_changed_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(n.id) INTO keys FROM new_rows n JOIN old_rows o USING (id)
   WHERE (n.episode_id, n.position, n.task_id, n.group_id, n.state, n.category, n.trigger_kind, n.skills::text)
         IS DISTINCT FROM
         (o.episode_id, o.position, o.task_id, o.group_id, o.state, o.category, o.trigger_kind, o.skills::text);
  IF keys IS NOT NULL THEN PERFORM summarize_tasks(keys); END IF;
  SELECT array_agg(n.id) INTO keys FROM new_rows n JOIN old_rows o USING (id)
   WHERE (n.tools::text, n.tool_evidence::text) IS DISTINCT FROM (o.tools::text, o.tool_evidence::text);
  IF keys IS NOT NULL THEN PERFORM summarize_tools(keys); END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER summary_of_changed AFTER UPDATE ON studio_task
  REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION summarize_changed_tasks();

CREATE FUNCTION summarize_parts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(DISTINCT task_id) INTO keys FROM new_rows;
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(DISTINCT task_id) INTO keys FROM old_rows;
  ELSE
    SELECT array_agg(task_id) INTO keys FROM (SELECT task_id FROM old_rows UNION SELECT task_id FROM new_rows) touched;
  END IF;
  IF keys IS NULL THEN RETURN NULL; END IF;
  CASE TG_TABLE_NAME
    WHEN 'studio_hiddenintent' THEN PERFORM summarize_intents(keys), summarize_tools(keys);
    WHEN 'studio_checklistitem' THEN PERFORM summarize_items(keys), summarize_tools(keys);
    WHEN 'studio_asset' THEN PERFORM summarize_files(keys);
    WHEN 'studio_dependency' THEN PERFORM summarize_needs(keys);
    ELSE PERFORM summarize_findings(keys);
  END CASE;
  RETURN NULL;
END $$;
"""
PARTS = (
    *("studio_hiddenintent", "studio_checklistitem", "studio_asset", "studio_dependency"),
    *("studio_finding", "studio_waiver", "studio_setaside"),
)
OF_PARTS = "".join(
    f"CREATE TRIGGER summary_{event.lower()} AFTER {event} ON {table} REFERENCING {rows}"
    " FOR EACH STATEMENT EXECUTE FUNCTION summarize_parts();\n"
    for table in PARTS
    for event, rows in (
        ("INSERT", "NEW TABLE AS new_rows"),
        ("UPDATE", "OLD TABLE AS old_rows NEW TABLE AS new_rows"),
        ("DELETE", "OLD TABLE AS old_rows"),
    )
)
EXISTING = """
DO $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(id) INTO keys FROM studio_task;
  IF keys IS NOT NULL THEN
    PERFORM summarize_tasks(keys);
    PERFORM summarize_intents(keys), summarize_items(keys), summarize_files(keys), summarize_needs(keys),
            summarize_findings(keys), summarize_tools(keys);
  END IF;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0025_approvals_from_any_state")]

    operations = [
        migrations.CreateModel(
            name="TaskSummary",
            fields=[
                (
                    "task",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="summary",
                        serialize=False,
                        to="studio.task",
                    ),
                ),
                ("position", models.PositiveIntegerField(null=True)),
                ("name", models.CharField(max_length=200)),
                ("group", models.BigIntegerField(null=True)),
                ("state", models.CharField(max_length=20)),
                ("category", models.CharField(max_length=20)),
                ("trigger_kind", models.CharField(max_length=20)),
                ("local", models.PositiveIntegerField(default=0)),
                ("persistent", models.PositiveIntegerField(default=0)),
                ("rubric", models.PositiveIntegerField(default=0)),
                ("rule", models.PositiveIntegerField(default=0)),
                ("files", models.PositiveIntegerField(default=0)),
                ("errors", models.PositiveIntegerField(default=0)),
                ("warnings", models.PositiveIntegerField(default=0)),
                ("hints", models.PositiveIntegerField(default=0)),
                (
                    "needs",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                (
                    "tools",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "skills",
                    django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None),
                ),
                (
                    "persona",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studio.persona"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["persona", "position", "name"], name="summary_in_order")],
            },
        ),
        migrations.AddIndex(
            model_name="task",
            index=models.Index(
                condition=models.Q(("grader_path", ""), _negated=True), fields=["episode"], name="task_with_grader"
            ),
        ),
        migrations.RunSQL(FUNCTIONS + TRIGGERS + OF_PARTS, migrations.RunSQL.noop),
        migrations.RunSQL(EXISTING, migrations.RunSQL.noop),
    ]
