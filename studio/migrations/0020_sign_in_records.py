"""Attempts to sign in are counted, so that guessing passwords is slowed down."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("studio", "0019_current_names")]

    operations = [
        migrations.CreateModel(
            name="SignInRecord",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("failures", models.PositiveIntegerField(default=0)),
                ("delayed_until", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField()),
                ("succeeded_at", models.DateTimeField(null=True)),
            ],
            options={"indexes": [models.Index(fields=["tried_at"], name="sign_in_tried_at")]},
        ),
    ]
