from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0005_rehearsals'),
    ]

    operations = [
        migrations.RenameField('rehearsalcall', 'tokens', 'prompt_tokens'),
        migrations.AddField('rehearsalcall', 'completion_tokens', models.PositiveIntegerField(default=0)),
        migrations.AddField('rehearsalcall', 'attempts', models.PositiveSmallIntegerField(default=1)),
    ]
