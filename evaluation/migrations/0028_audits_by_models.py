"""A round of judgings may belong to an audit."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0027_user_voice")]

    operations = [
        migrations.AddField("JudgingRound", "source", models.CharField(blank=True, max_length=100)),
    ]
