"""Packets have as many seats as people judge them; people may skip; those involved in a task do not judge it."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotations", "0005_packet_content"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField("AuditCampaign", "source", models.TextField(blank=True)),
        migrations.AddField("AuditCampaign", "own_tasks", models.BooleanField(default=False)),
        migrations.AddField(
            "Packet",
            "involved",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(), default=list, size=None
            ),
        ),
        migrations.AlterField(
            "Judgment",
            "answer",
            models.CharField(
                choices=[
                    ("yes", "Yes"),
                    ("no", "No"),
                    ("unsure", "Unsure"),
                    ("skipped", "Skipped"),
                    ("undone", "Undone"),
                ],
                max_length=10,
            ),
        ),
        migrations.RemoveConstraint("Judgment", "judgment_answer_known"),
        migrations.AddConstraint(
            "Judgment",
            models.CheckConstraint(
                condition=models.Q(("answer__in", ["yes", "no", "unsure", "skipped", "undone"])),
                name="judgment_answer_known",
            ),
        ),
        migrations.CreateModel(
            name="Seat",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveSmallIntegerField()),
                ("leased_until", models.DateTimeField(null=True)),
                ("judged", models.BooleanField(default=False)),
                (
                    "auditor",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "packet",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="seats", to="annotations.packet"
                    ),
                ),
            ],
            options={
                "ordering": ["packet", "number"],
                "constraints": [
                    models.UniqueConstraint(fields=("packet", "number"), name="seat_number"),
                    models.UniqueConstraint(fields=("packet", "auditor"), name="seat_once_per_auditor"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("auditor__isnull", False),
                            models.Q(("judged", False), ("leased_until__isnull", True)),
                            _connector="OR",
                        ),
                        name="seat_free_or_held",
                    ),
                ],
            },
        ),
    ]
