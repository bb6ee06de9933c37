"""A round of judgings may belong to an audit."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0026_tool_calls_as_made")]

    operations = [
        migrations.AddField("JudgingRound", "source", models.CharField(blank=True, max_length=100)),
    ]
