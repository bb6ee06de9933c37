"""Tool calls keep the records of apps that they changed."""

from django.db import migrations

import studio.models.fields


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0029_results_views")]

    operations = [
        migrations.AddField("ToolCall", "effects", studio.models.fields.OrderedJSONField(default=list)),
    ]
