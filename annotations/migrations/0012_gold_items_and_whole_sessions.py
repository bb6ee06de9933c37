"""Known answers are typed before an audit; auditors may look at the whole session, which is recorded."""

import django.contrib.postgres.fields
import django.db.models.deletion
import studio.models.fields
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotations", "0011_due_dates_and_instructions")]

    operations = [
        migrations.CreateModel(
            name="GoldItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("content", studio.models.fields.OrderedJSONField()),
                ("sealed", studio.models.fields.OrderedJSONField()),
                ("source", models.CharField(max_length=100)),
                ("origin", models.TextField()),
                (
                    "involved",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), default=list, size=None
                    ),
                ),
                ("known", models.JSONField(blank=True, default=dict)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "benchmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="gold_items", to="studio.benchmark"
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("benchmark", "source"), name="gold_item_once"),
                ],
            },
        ),
        migrations.AddField("Seat", "full_session", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("Judgment", "full_session", models.BooleanField(default=False)),
        migrations.AddField(
            "Packet", "origin", models.CharField(blank=True, default="", max_length=100), preserve_default=False
        ),
    ]
