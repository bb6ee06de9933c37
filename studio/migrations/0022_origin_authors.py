"""Authors of copies, templates, imports and restored versions."""

import django.db.models.fields.json
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

from studio.models.frozen import freeze

FUNCTIONS = """
CREATE FUNCTION contributors_to_version(asked_task bigint, newest int) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH versions AS (
    SELECT id, created_by_id FROM studio_revision WHERE task_id = asked_task AND number <= newest
  )
  SELECT created_by_id FROM versions WHERE created_by_id IS NOT NULL
   UNION
  SELECT c.author_id FROM studio_comment c JOIN versions ON versions.id = c.applied_in_id
   UNION
  SELECT o.user_id FROM studio_revision_origin_authors o JOIN versions ON versions.id = o.revision_id;
$$;

CREATE FUNCTION came_by_import(asked_task bigint, newest int) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (
    SELECT FROM studio_revision r
     WHERE r.task_id = asked_task AND r.number <= newest
       AND NOT EXISTS (SELECT FROM studio_event e
                        WHERE e.task_id = asked_task AND e.verb = 'imported' AND (e.data ->> 'version')::int = r.number)
  );
$$;

CREATE OR REPLACE FUNCTION authors_of_revision(asked bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  WITH wanted AS (
    SELECT r.task_id, r.number, b.approvals_needed
      FROM studio_revision r
      JOIN studio_task t ON t.id = r.task_id
      JOIN studio_episode e ON e.id = t.episode_id
      JOIN studio_persona p ON p.id = e.persona_id
      JOIN studio_benchmark b ON b.id = p.benchmark_id
     WHERE r.id = asked
  ), since AS (
    SELECT coalesce(max(r.number), 0) AS number
      FROM studio_revision r JOIN wanted ON r.task_id = wanted.task_id AND r.number < wanted.number
     WHERE NOT EXISTS (SELECT FROM studio_review v WHERE v.revision_id = r.id AND v.decision = 'changes_requested')
       AND (EXISTS (SELECT FROM studio_review v WHERE v.revision_id = r.id AND v.decision = 'approved_elsewhere')
            OR wanted.approvals_needed <= (SELECT count(DISTINCT v.reviewer_id) FROM studio_review v
                                            WHERE v.revision_id = r.id AND v.decision = 'approved'))
  ), versions AS (
    SELECT r.id, r.created_by_id
      FROM studio_revision r, wanted, since
     WHERE r.task_id = wanted.task_id AND r.number > since.number AND r.number <= wanted.number
  )
  SELECT created_by_id FROM versions WHERE created_by_id IS NOT NULL
   UNION
  SELECT c.author_id FROM studio_comment c JOIN versions ON versions.id = c.applied_in_id
   UNION
  SELECT o.user_id FROM studio_revision_origin_authors o JOIN versions ON versions.id = o.revision_id;
$$;
"""
UNDO = """
DROP FUNCTION came_by_import(bigint, int);
DROP FUNCTION contributors_to_version(bigint, int);
CREATE OR REPLACE FUNCTION authors_of_revision(asked bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
  SELECT created_by_id FROM studio_revision WHERE id = asked AND created_by_id IS NOT NULL;
$$;
"""

# In the order in which they happened: a copy of a copy has the authors of both.
BACKFILL = """
DO $$
DECLARE
  happened record;
BEGIN
  FOR happened IN
    SELECT task_id, verb, data FROM studio_event
     WHERE task_id IS NOT NULL AND (verb IN ('copied', 'moved') AND data ? 'from' OR data ? 'template') ORDER BY id
  LOOP
    IF happened.verb IN ('copied', 'moved') THEN
      INSERT INTO studio_revision_origin_authors (revision_id, user_id)
      SELECT r.id, author
        FROM studio_revision r,
             contributors_to_version((happened.data ->> 'from')::bigint, (happened.data ->> 'from_version')::int) author
       WHERE r.task_id = happened.task_id AND r.number = 1
      ON CONFLICT DO NOTHING;
    ELSIF happened.verb = 'saved_as_template' THEN
      INSERT INTO studio_tasktemplate_authors (tasktemplate_id, user_id)
      SELECT t.id, author
        FROM studio_tasktemplate t, contributors_to_version(happened.task_id, t.made_from_version) author
       WHERE t.id = (happened.data ->> 'template')::bigint
      ON CONFLICT DO NOTHING;
    ELSE
      INSERT INTO studio_revision_origin_authors (revision_id, user_id)
      SELECT r.id, a.user_id
        FROM studio_revision r, studio_tasktemplate_authors a
       WHERE r.task_id = happened.task_id AND r.number = 1
         AND a.tasktemplate_id = (happened.data ->> 'template')::bigint
      ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0021_title_length'),
    ]

    operations = [
        migrations.AddField(
            model_name='revision',
            name='origin_authors',
            field=models.ManyToManyField(related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='tasktemplate',
            name='authors',
            field=models.ManyToManyField(related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='revision',
            index=models.Index(django.db.models.functions.text.MD5(django.db.models.fields.json.KeyTextTransform('initial_request', 'spec')), name='revision_by_request'),
        ),
        migrations.RunSQL(FUNCTIONS, UNDO),
        freeze("studio_revision_origin_authors"),
        migrations.RunSQL(BACKFILL, migrations.RunSQL.noop),
    ]
