"""Packets may be whole sessions, with an answer to each of their questions."""

import django.db.models.deletion
import studio.models.fields
from django.db import migrations, models

ANSWERS = [
    ("yes", "Yes"),
    ("no", "No"),
    ("unsure", "Unsure"),
    ("answered", "Answered"),
    ("skipped", "Skipped"),
    ("undone", "Undone"),
]
KINDS = [(kind, kind) for kind in ("satisfaction", "follow_up", "checklist", "session")]
UNITS = [("decision", "Single decisions"), ("session", "Whole sessions")]


def answers() -> studio.models.fields.OrderedJSONField:
    return studio.models.fields.OrderedJSONField(blank=True, default=dict)


class Migration(migrations.Migration):
    dependencies = [("annotations", "0007_seats_of_earlier_audits")]

    operations = [
        migrations.CreateModel(
            name="Population",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("rows", studio.models.fields.OrderedJSONField(default=list)),
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="population",
                        to="annotations.auditcampaign",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            "AuditCampaign", "unit", models.CharField(choices=UNITS, default="decision", max_length=10)
        ),
        migrations.AlterField("Packet", "kind", models.CharField(choices=KINDS, max_length=20)),
        migrations.AddField("Packet", "cluster", models.CharField(blank=True, max_length=100)),
        migrations.AddField("Seat", "draft", models.JSONField(null=True)),
        migrations.AlterField("Judgment", "answer", models.CharField(choices=ANSWERS, max_length=10)),
        migrations.AddField("Judgment", "answers", answers()),
        migrations.RemoveConstraint("Judgment", "judgment_answer_known"),
        migrations.AddConstraint(
            "Judgment",
            models.CheckConstraint(
                condition=models.Q(("answer__in", ["yes", "no", "unsure", "answered", "skipped", "undone"])),
                name="judgment_answer_known",
            ),
        ),
        migrations.AlterField("Adjudication", "decision", models.BooleanField(null=True)),
        migrations.AddField("Adjudication", "answers", answers()),
        migrations.AddField("Consensus", "answers", answers()),
    ]
