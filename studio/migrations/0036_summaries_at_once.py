"""A transaction that writes very many tasks has them summarized once at its end, instead of all of them again after
each statement."""

from django.db import migrations

# A statement's trigger fires unless the transaction has said that it will summarize by itself.
WHEN_AT_ONCE = """
DO $$
DECLARE
  definition text;
BEGIN
  FOR definition IN
    SELECT pg_get_triggerdef(oid) FROM pg_trigger
     WHERE tgname ~ '^(persona_)?summary_' AND tgtype & 1 = 0 AND NOT tgisinternal
       AND tgrelid::regclass::text ~ '^studio_'
  LOOP
    EXECUTE replace(
      replace(definition, 'CREATE TRIGGER', 'CREATE OR REPLACE TRIGGER'),
      ' EXECUTE FUNCTION',
      $when$ WHEN (current_setting('studio.summaries', true) IS DISTINCT FROM 'later') EXECUTE FUNCTION$when$
    );
  END LOOP;
END $$;

CREATE FUNCTION summarize_all(personas bigint[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  keys bigint[];
BEGIN
  SELECT array_agg(t.id) INTO keys
    FROM studio_task t JOIN studio_episode e ON e.id = t.episode_id WHERE e.persona_id = ANY(personas);
  PERFORM set_config('studio.summaries', 'later', true);
  IF keys IS NOT NULL THEN
    PERFORM summarize_tasks(keys);
    PERFORM summarize_intents(keys), summarize_items(keys), summarize_files(keys), summarize_needs(keys),
            summarize_findings(keys), summarize_tools(keys);
    PERFORM begin_persona_summaries(personas);
    PERFORM summarize_personas(personas);
  END IF;
  PERFORM set_config('studio.summaries', '', true);
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("studio", "0035_open_assignments")]

    operations = [migrations.RunSQL(WHEN_AT_ONCE, migrations.RunSQL.noop)]
