"""An audit keeps which judging of each of its pilots it is about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations", "0012_gold_items_and_whole_sessions")]

    operations = [
        migrations.AddField("AuditCampaign", "rounds", models.JSONField(blank=True, default=dict)),
    ]
