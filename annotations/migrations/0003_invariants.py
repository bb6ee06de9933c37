"""What was shown and what was answered is never changed afterwards."""

from django.db import migrations

from studio.models.frozen import freeze


class Migration(migrations.Migration):
    dependencies = [("annotations", "0002_initial"), ("studio", "0002_invariants")]

    operations = [freeze(f"annotations_{table}") for table in ("packet", "judgment", "adjudication")]
