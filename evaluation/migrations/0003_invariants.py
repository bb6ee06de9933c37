"""What a pilot left is never changed afterwards."""

from django.db import migrations

from studio.models.frozen import freeze

FROZEN = ("sessionintent", "snapshot", "turn", "toolcall", "modelcall", "verdict", "release", "releasetask")


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0002_initial"), ("studio", "0002_invariants")]

    operations = [freeze(f"evaluation_{table}") for table in FROZEN]
