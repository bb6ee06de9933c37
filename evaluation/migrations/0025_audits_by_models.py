"""A round of judgings may belong to an audit."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0024_pilot_modes")]

    operations = [
        migrations.AddField("JudgingRound", "source", models.CharField(blank=True, max_length=100)),
    ]
