"""A judging may be of single decisions alone, which an audit drew."""

from django.db import migrations, models

COLUMNS = ("session_id", "rehearsal_id", "round_id", "purpose", "scoring", "sample", "endpoint_id", "judge", "prompts")


def identity(columns: tuple[str, ...]) -> str:
    changed = " OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in columns)
    return f"""
DROP TRIGGER evaluation_judging_identity ON evaluation_judging;
CREATE TRIGGER evaluation_judging_identity BEFORE UPDATE ON evaluation_judging
  FOR EACH ROW WHEN ({changed})
  EXECUTE FUNCTION refuse_update();
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0034_lighter_sessions")]

    operations = [
        migrations.AddField("Judging", "asked", models.JSONField(null=True)),
        migrations.RunSQL(identity((*COLUMNS, "asked")), identity(COLUMNS)),
    ]
