"""Sessions remember since when an endpoint's outage has stopped them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0001_squashed_0011_evaluation")]

    operations = [migrations.AddField("session", "failing_since", models.DateTimeField(null=True))]
