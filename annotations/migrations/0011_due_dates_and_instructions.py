"""Audits have a day by which people judge and instructions of their own; sessions are drawn by model and grader too."""

from django.db import migrations, models

STRATA = [
    ("pilot", "As many of each pilot"),
    ("model", "As many of each model, as in the paper"),
    ("persona", "In proportion, by persona"),
    ("category", "In proportion, by category"),
    ("status", "In proportion, by what became of the intents"),
    ("grader", "In proportion, by what grades the checklist"),
    ("disagreement", "Half of them where judges differ or waver"),
]


class Migration(migrations.Migration):
    dependencies = [("annotations", "0010_what_a_cause_is_about")]

    operations = [
        migrations.AddField("AuditCampaign", "due", models.DateField(blank=True, null=True)),
        migrations.AddField(
            "AuditCampaign", "instructions", models.TextField(blank=True, default=""), preserve_default=False
        ),
        migrations.AlterField(
            "AuditCampaign", "strata", models.CharField(choices=STRATA, default="pilot", max_length=12)
        ),
    ]
