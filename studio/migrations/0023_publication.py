"""Imported tasks are marked as approved by two people."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

CHECK_REVIEW = """
CREATE OR REPLACE FUNCTION check_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.decision IN ('approved', 'approved_elsewhere')
     AND NEW.reviewer_id IN (SELECT authors_of_revision(NEW.revision_id)) THEN
    RAISE EXCEPTION 'person % wrote part of what they approve', NEW.reviewer_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_others';
  END IF;
  IF NEW.decision = 'approved_elsewhere' AND NEW.reviewer_id IS NULL THEN
    RAISE EXCEPTION 'an approval elsewhere is confirmed by a person'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_elsewhere_confirmed';
  END IF;
  IF NEW.decision = 'approved'
     AND (SELECT count(*) FROM jsonb_each(NEW.points) point WHERE point.value -> 'so' = 'true') < 4
     AND (SELECT b.review_by_list FROM studio_revision r
            JOIN studio_task t ON t.id = r.task_id
            JOIN studio_episode e ON e.id = t.episode_id
            JOIN studio_persona p ON p.id = e.persona_id
            JOIN studio_benchmark b ON b.id = p.benchmark_id
           WHERE r.id = NEW.revision_id) THEN
    RAISE EXCEPTION 'the benchmark asks for the four points of the reviewer''s list'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_list';
  END IF;
  RETURN NEW;
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0022_origin_authors'),
    ]

    operations = [
        migrations.AddField(
            model_name='import',
            name='publication',
            field=models.CharField(blank=True, choices=[('', 'Not requested'), ('requested', 'Waits for another owner'), ('confirmed', 'Confirmed'), ('declined', 'Declined')], default='', max_length=12),
        ),
        migrations.AddField(
            model_name='import',
            name='publication_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='import',
            name='publication_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='import',
            name='revisions',
            field=models.ManyToManyField(related_name='+', to='studio.revision'),
        ),
        migrations.AddConstraint(
            model_name='import',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('publication', 'confirmed'), _negated=True), models.Q(('publication_by__isnull', False), models.Q(('publication_by', models.F('by')), _negated=True)), _connector='OR'), name='publication_by_two'),
        ),
        migrations.RunSQL(CHECK_REVIEW, migrations.RunSQL.noop),
    ]
