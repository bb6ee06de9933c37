from django.db import migrations

import studio.models.fields


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0035_judgings_of_single_decisions")]

    operations = [
        migrations.AddField(
            model_name="rehearsal",
            name="script_outcomes",
            field=studio.models.fields.OrderedJSONField(null=True),
        ),
    ]
