"""Control items check the auditors; packets know what they can be broken down by; answers may name a cause."""

from django.db import migrations, models

CAUSES = [
    ("criterion_ambiguous", "The criterion can be read in two ways"),
    ("evidence_not_visible", "What would show it is not in the record"),
    ("judge_error", "The record is clear: a fair test for judges"),
    ("auditor_error", "An auditor overlooked something"),
    ("out_of_scope", "The task does not ask for this"),
]
STRATA = [
    ("pilot", "As many of each pilot, as in the paper"),
    ("persona", "In proportion, by persona"),
    ("category", "In proportion, by category"),
    ("status", "In proportion, by what became of the intents"),
    ("disagreement", "Half of them where judges differ or waver"),
]


def data() -> models.JSONField:
    return models.JSONField(blank=True, default=dict)


class Migration(migrations.Migration):
    dependencies = [("annotations", "0008_sessions")]

    operations = [
        migrations.AddField(
            "AuditCampaign", "strata", models.CharField(choices=STRATA, default="pilot", max_length=12)
        ),
        migrations.AddField("AuditCampaign", "controls", data()),
        migrations.AddField(
            "Packet",
            "control",
            models.CharField(
                blank=True,
                choices=[("gold", "Known answer"), ("planted", "Planted wrong verdict")],
                default="",
                max_length=10,
            ),
            preserve_default=False,
        ),
        migrations.AddField("Packet", "known", data()),
        migrations.AddField("Packet", "labels", data()),
        migrations.AddField(
            "Judgment",
            "confidence",
            models.PositiveSmallIntegerField(choices=[(1, "Low"), (2, "Medium"), (3, "High")], null=True),
        ),
        migrations.AddField(
            "Judgment",
            "cause",
            models.CharField(blank=True, choices=CAUSES, default="", max_length=20),
            preserve_default=False,
        ),
        migrations.AddField(
            "Adjudication",
            "cause",
            models.CharField(blank=True, choices=CAUSES, default="", max_length=20),
            preserve_default=False,
        ),
    ]
