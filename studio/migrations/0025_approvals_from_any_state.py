"""A task becomes approved only by reviews, whatever its state was; until now the database asked this of tasks in review."""

from django.db import migrations

TRIGGER = """
DROP TRIGGER approved_by_enough ON studio_task;
CREATE CONSTRAINT TRIGGER approved_by_enough AFTER UPDATE OF state ON studio_task
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.state IN ({states}) AND NEW.state = 'approved')
  EXECUTE FUNCTION check_approvals();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0024_draft_numbers'),
    ]

    operations = [
        migrations.RunSQL(
            TRIGGER.format(states="'draft', 'changes_requested', 'in_review'"), TRIGGER.format(states="'in_review'")
        ),
    ]
