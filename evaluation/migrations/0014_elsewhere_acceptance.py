"""Approvals elsewhere, accepted by name."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from studio.models.frozen import freeze


class Migration(migrations.Migration):
    dependencies = [
        ("evaluation", "0013_run_without_unused_time"),
        ("studio", "0023_publication"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ElsewhereAcceptance",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "review",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="acceptance", to="studio.review"
                    ),
                ),
            ],
        ),
        freeze("evaluation_elsewhereacceptance"),
    ]
