"""Sessions remember since when an endpoint's outage has stopped them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0011_proposals_by_name")]

    operations = [migrations.AddField("session", "failing_since", models.DateTimeField(null=True))]
