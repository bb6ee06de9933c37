"""Threads, suggestions, assignments and the reviewer's list; and what constraints cannot say of them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

AUTHORS = """
CREATE FUNCTION authors_of_revision(asked bigint) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
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
  SELECT c.author_id FROM studio_comment c JOIN versions ON versions.id = c.applied_in_id;
$$;

CREATE FUNCTION check_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.decision = 'approved' AND NEW.reviewer_id IN (SELECT authors_of_revision(NEW.revision_id)) THEN
    RAISE EXCEPTION 'person % wrote part of what they approve', NEW.reviewer_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_others';
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
CREATE TRIGGER approved_by_others BEFORE INSERT ON studio_review FOR EACH ROW EXECUTE FUNCTION check_review();

ALTER TABLE studio_review ADD CONSTRAINT approved_points_are_so
  CHECK (decision <> 'approved' OR NOT jsonb_path_exists(points, '$.*.so ? (@ == false)'));
"""
UNDO_AUTHORS = """
ALTER TABLE studio_review DROP CONSTRAINT approved_points_are_so;
DROP TRIGGER approved_by_others ON studio_review;
DROP FUNCTION check_review();
DROP FUNCTION authors_of_revision(bigint);
"""

# From review to approved only; what is published elsewhere is approved without a review here.
ENOUGH = """
CREATE FUNCTION check_approvals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM studio_review v JOIN studio_revision r ON r.id = v.revision_id
     WHERE r.task_id = NEW.id AND r.number = NEW.version
    HAVING bool_or(v.decision = 'approved_elsewhere')
        OR count(DISTINCT v.reviewer_id) FILTER (WHERE v.decision = 'approved') >= (
           SELECT b.approvals_needed FROM studio_episode e
             JOIN studio_persona p ON p.id = e.persona_id
             JOIN studio_benchmark b ON b.id = p.benchmark_id
            WHERE e.id = NEW.episode_id)
  ) THEN
    RAISE EXCEPTION 'task % is not approved by as many as its benchmark asks for', NEW.task_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'approved_by_enough';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER approved_by_enough AFTER UPDATE OF state ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (OLD.state = 'in_review' AND NEW.state = 'approved')
  EXECUTE FUNCTION check_approvals();
"""
UNDO_ENOUGH = """
DROP TRIGGER approved_by_enough ON studio_task;
DROP FUNCTION check_approvals();
"""

ASSIGNED = """
CREATE FUNCTION may_be_assigned(who bigint, asked bigint, asked_part text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM studio_membership m
      JOIN studio_persona p ON p.benchmark_id = m.benchmark_id
      JOIN studio_episode e ON e.persona_id = p.id
      JOIN studio_task t ON t.episode_id = e.id
     WHERE t.id = asked AND m.user_id = who
       AND m.role IN ('owner', CASE asked_part WHEN 'writer' THEN 'author' ELSE 'reviewer' END));
$$;

CREATE FUNCTION check_assignment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT may_be_assigned(NEW.user_id, NEW.task_id, NEW.part) THEN
    RAISE EXCEPTION 'person % may not be the % of task %', NEW.user_id, NEW.part, NEW.task_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'assigned_may';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER assigned_may BEFORE INSERT OR UPDATE ON studio_assignment
  FOR EACH ROW EXECUTE FUNCTION check_assignment();

CREATE FUNCTION take_assignments_back() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM studio_assignment a
   USING studio_task t, studio_episode e, studio_persona p
   WHERE a.user_id = OLD.user_id AND a.task_id = t.id AND t.episode_id = e.id AND e.persona_id = p.id
     AND p.benchmark_id = OLD.benchmark_id AND NOT may_be_assigned(a.user_id, a.task_id, a.part);
  RETURN NULL;
END $$;
CREATE TRIGGER assignments_go_with_the_role AFTER DELETE OR UPDATE ON studio_membership
  FOR EACH ROW EXECUTE FUNCTION take_assignments_back();
"""
UNDO_ASSIGNED = """
DROP TRIGGER assignments_go_with_the_role ON studio_membership;
DROP FUNCTION take_assignments_back();
DROP TRIGGER assigned_may ON studio_assignment;
DROP FUNCTION check_assignment();
DROP FUNCTION may_be_assigned(bigint, bigint, text);
"""

ANSWERS = """
CREATE FUNCTION check_answer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.reply_to_id IS NOT NULL AND NOT EXISTS (
    SELECT FROM studio_comment c WHERE c.id = NEW.reply_to_id AND c.task_id = NEW.task_id AND c.reply_to_id IS NULL
  ) THEN
    RAISE EXCEPTION 'remark % is no remark of this task that can be answered', NEW.reply_to_id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'answers_a_remark';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER answers_a_remark BEFORE INSERT OR UPDATE OF reply_to_id, task_id ON studio_comment
  FOR EACH ROW EXECUTE FUNCTION check_answer();
"""
UNDO_ANSWERS = """
DROP TRIGGER answers_a_remark ON studio_comment;
DROP FUNCTION check_answer();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0009_board_moves'),
    ]

    operations = [
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('part', models.CharField(choices=[('writer', 'Author'), ('reviewer', 'Reviewer')], max_length=10)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.AddField(
            model_name='benchmark',
            name='review_by_list',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='comment',
            name='after',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='comment',
            name='applied_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='comment',
            name='applied_in',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='applied', to='studio.revision'),
        ),
        migrations.AddField(
            model_name='comment',
            name='before',
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name='comment',
            name='deleted_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='comment',
            name='edited_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='comment',
            name='start',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='comment',
            name='suggestion',
            field=models.TextField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name='review',
            name='points',
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AlterField(
            model_name='comment',
            name='text',
            field=models.TextField(blank=True),
        ),
        migrations.AlterField(
            model_name='notification',
            name='kind',
            field=models.CharField(choices=[('mentioned', 'Someone mentions you in a comment'), ('remarked', 'A comment on a task you write'), ('answered', 'Someone replies to you or applies your suggestion'), ('assigned', 'A task is assigned to you'), ('review_asked', 'A task is ready for a review you can give'), ('changes_requested', 'Changes are requested on a task you wrote'), ('approved', 'A task you wrote is approved'), ('edited_after', 'A task you approved is edited'), ('imported', 'An import into a benchmark you edit has finished'), ('pilot_ended', 'A pilot you started has ended'), ('audit_opened', 'An audit is open for you')], max_length=20),
        ),
        migrations.AlterField(
            model_name='notificationchoice',
            name='kind',
            field=models.CharField(choices=[('mentioned', 'Someone mentions you in a comment'), ('remarked', 'A comment on a task you write'), ('answered', 'Someone replies to you or applies your suggestion'), ('assigned', 'A task is assigned to you'), ('review_asked', 'A task is ready for a review you can give'), ('changes_requested', 'Changes are requested on a task you wrote'), ('approved', 'A task you wrote is approved'), ('edited_after', 'A task you approved is edited'), ('imported', 'An import into a benchmark you edit has finished'), ('pilot_ended', 'A pilot you started has ended'), ('audit_opened', 'An audit is open for you')], max_length=20),
        ),
        migrations.AddIndex(
            model_name='comment',
            index=models.Index(fields=['task', 'created_at'], name='comment_by_task'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(('reply_to', None), models.Q(('field', ''), ('item_uid', None), ('suggestion', None), ('words', '')), _connector='OR'), name='answer_has_no_place'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('suggestion', None), ('words', '')), models.Q(('field', ''), _negated=True), _connector='OR'), name='words_are_in_a_field'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('text', ''), _negated=True), ('suggestion__isnull', False), ('deleted_at__isnull', False), _connector='OR'), name='remark_says_something'),
        ),
        migrations.AddConstraint(
            model_name='comment',
            constraint=models.CheckConstraint(condition=models.Q(('applied_in', None), ('suggestion__isnull', False), _connector='OR'), name='applied_was_suggested'),
        ),
        migrations.AddField(
            model_name='assignment',
            name='by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='assignment',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='studio.task'),
        ),
        migrations.AddField(
            model_name='assignment',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['user', 'part'], name='assignment_by_user'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('task', 'user'), name='assigned_once'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('part', 'writer')), fields=('task',), name='one_writer'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.CheckConstraint(condition=models.Q(('part__in', ['writer', 'reviewer'])), name='assignment_part_known'),
        ),
        migrations.RunSQL(AUTHORS, UNDO_AUTHORS),
        migrations.RunSQL(ENOUGH, UNDO_ENOUGH),
        migrations.RunSQL(ASSIGNED, UNDO_ASSIGNED),
        migrations.RunSQL(ANSWERS, UNDO_ANSWERS),
    ]
