"""A packet's content is called so. The column keeps its name."""

import studio.models.fields
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("annotations", "0001_squashed_0004_audits")]

    operations = [
        migrations.AlterField("Packet", "shown", studio.models.fields.OrderedJSONField(db_column="shown")),
        migrations.RenameField("Packet", "shown", "content"),
    ]
