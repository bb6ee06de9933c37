"""Single decisions are drawn as planned, too. Those of earlier audits were drawn by kind, answer, persona and pilot."""

from django.db import migrations, models

STRATA = [
    ("pilot", "As many of each pilot"),
    ("model", "As many of each model, as in the paper"),
    ("persona", "In proportion, by persona"),
    ("category", "In proportion, by category"),
    ("status", "In proportion, by what became of the intents"),
    ("grader", "In proportion, by what grades the checklist"),
    ("disagreement", "Half of them where judges differ or waver"),
    ("answer", "In proportion, by kind, answer, persona and pilot"),
]


class Migration(migrations.Migration):
    dependencies = [("annotations", "0013_rounds_of_audits")]

    operations = [
        migrations.AlterField(
            "AuditCampaign", "strata", models.CharField(choices=STRATA, default="pilot", max_length=12)
        ),
        migrations.RunSQL(
            "UPDATE annotations_auditcampaign SET strata = 'answer' WHERE unit = 'decision'",
            "UPDATE annotations_auditcampaign SET strata = 'pilot' WHERE unit = 'decision'",
        ),
    ]
