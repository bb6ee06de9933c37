"""A cause may be about some of the questions that an adjudication decides."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations", "0009_control_items_and_causes")]

    operations = [
        migrations.AddField(
            "Adjudication",
            "about",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.TextField(), blank=True, default=list, size=None
            ),
        ),
    ]
