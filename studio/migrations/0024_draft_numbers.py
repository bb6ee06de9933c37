import studio.models.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('studio', '0023_publication'),
    ]

    operations = [
        migrations.AddField(
            model_name='autosave',
            name='number',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='autosave',
            name='saved_form_data',
            field=studio.models.fields.OrderedJSONField(null=True),
        ),
    ]
