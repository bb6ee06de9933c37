"""A row for each persona with what its tasks come to, kept by triggers: pages of a benchmark read these instead of all
its tasks."""

# ruff: noqa: S608

import django.db.models.deletion
from django.db import migrations, models

SUMS = ("local", "persistent", "rubric", "rule", "files", "errors", "warnings", "hints")
STATES = ("draft", "in_review", "changes_requested", "approved", "released", "retired")
COUNTS = ("tasks", "sessions", *SUMS, "dependencies", *STATES)
NAMED = ("categories", "tools", "skills")
COLUMNS = (*COUNTS, *NAMED, "episode")
READ = (
    *("position", "name", "group", "state", "category", "trigger_kind", "needs", "tools", "skills"),
    *SUMS,
)
"""Columns of a task's summary that the persona's follows from."""


def of(row: str) -> str:
    return ", ".join(f'{row}."{name}"' for name in ("persona_id", *READ))


def numbers_of(name: str, unnested: str = "") -> str:
    """How many tasks have each name, as an object."""
    return f"""(SELECT coalesce(jsonb_object_agg(named.name, named.n), '{{}}') FROM (
               SELECT {name} AS name, count(*) AS n FROM studio_tasksummary s{unnested} WHERE s.persona_id = k.id GROUP BY 1
             ) named)"""


# Like the functions of task summaries: lock first, then count in a statement of its own, which sees what the
# transactions that were waited for have committed.
FUNCTIONS = f"""
CREATE FUNCTION summarize_personas(keys bigint[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM studio_personasummary WHERE persona_id = ANY(keys) ORDER BY persona_id FOR NO KEY UPDATE;
  UPDATE studio_personasummary p SET {", ".join(f"{name} = c.{name}" for name in COLUMNS)}
    FROM (
      SELECT k.id, n.*,
             {numbers_of("s.category")} AS categories,
             {numbers_of("each.name", ", unnest(s.tools) each(name)")} AS tools,
             {numbers_of("each.name", ", unnest(s.skills) each(name)")} AS skills,
             coalesce((
               SELECT string_agg(concat_ws(E'\\x1f', s.task_id, array_to_string(s.needs, ','),
                        CASE s.trigger_kind WHEN 'user_message' THEN '' ELSE 'signal' END,
                        translate(coalesce(g.name, ''), E'\\x1e\\x1f', '')), E'\\x1e' ORDER BY s.position, s.task_id)
                 FROM studio_tasksummary s LEFT JOIN studio_dependencygroup g ON g.id = s."group"
                WHERE s.persona_id = k.id AND s.position IS NOT NULL AND s.state <> 'retired'
             ), '') AS episode
        FROM unnest(keys) k(id) CROSS JOIN LATERAL (
          SELECT count(*) AS tasks, count(s.position) AS sessions,
                 {", ".join(f"coalesce(sum(s.{name}), 0) AS {name}" for name in SUMS)},
                 coalesce(sum(cardinality(s.needs)), 0) AS dependencies,
                 {", ".join(f"count(*) FILTER (WHERE s.state = '{name}') AS {name}" for name in STATES)}
            FROM studio_tasksummary s WHERE s.persona_id = k.id
        ) n
    ) c
   WHERE p.persona_id = c.id;
END $$;

CREATE FUNCTION begin_persona_summaries(keys bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO studio_personasummary (persona_id, {", ".join(COLUMNS)})
  SELECT k.id, {", ".join(["0"] * len(COUNTS) + ["'{}'::jsonb"] * len(NAMED) + ["''"])} FROM unnest(keys) k(id) ORDER BY 1
  ON CONFLICT (persona_id) DO NOTHING;
$$;

CREATE FUNCTION summarize_personas_of_tasks() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
  moved bigint[];
BEGIN
  IF TG_OP = 'INSERT' THEN
    SELECT array_agg(DISTINCT persona_id) INTO keys FROM new_rows;
    PERFORM begin_persona_summaries(keys);
  ELSIF TG_OP = 'DELETE' THEN
    SELECT array_agg(DISTINCT persona_id) INTO keys FROM old_rows;
  ELSE
    SELECT array_agg(DISTINCT touched.key), array_agg(DISTINCT n.persona_id) FILTER (WHERE n.persona_id <> o.persona_id)
      INTO keys, moved
      FROM new_rows n JOIN old_rows o USING (task_id), unnest(ARRAY[n.persona_id, o.persona_id]) touched(key)
     WHERE ({of("n")}) IS DISTINCT FROM ({of("o")});
    IF moved IS NOT NULL THEN PERFORM begin_persona_summaries(moved); END IF;
  END IF;
  IF keys IS NOT NULL THEN PERFORM summarize_personas(keys); END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION summarize_persona_of_group() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM summarize_personas(ARRAY[e.persona_id]) FROM studio_episode e WHERE e.id = NEW.episode_id;
  RETURN NULL;
END $$;
CREATE TRIGGER summary_of_group AFTER UPDATE OF name ON studio_dependencygroup
  FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION summarize_persona_of_group();
"""
TRIGGERS = "".join(
    f"CREATE TRIGGER persona_summary_{event.lower()} AFTER {event} ON studio_tasksummary REFERENCING {rows}"
    " FOR EACH STATEMENT EXECUTE FUNCTION summarize_personas_of_tasks();\n"
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
  SELECT array_agg(DISTINCT persona_id) INTO keys FROM studio_tasksummary;
  IF keys IS NOT NULL THEN PERFORM begin_persona_summaries(keys), summarize_personas(keys); END IF;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0033_web_recording")]

    operations = [
        migrations.CreateModel(
            name="PersonaSummary",
            fields=[
                (
                    "persona",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="summary",
                        serialize=False,
                        to="studio.persona",
                    ),
                ),
                *((name, models.PositiveIntegerField(default=0)) for name in COUNTS),
                *((name, models.JSONField(default=dict)) for name in NAMED),
                ("episode", models.TextField(default="")),
            ],
        ),
        migrations.RunSQL(FUNCTIONS + TRIGGERS, migrations.RunSQL.noop),
        migrations.RunSQL(EXISTING, migrations.RunSQL.noop),
    ]
