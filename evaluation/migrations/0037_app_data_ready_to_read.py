import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0036_rehearsals_graded_by_scripts"), ("studio", "0033_web_recording")]

    operations = [
        migrations.CreateModel(
            name="ReadyAppData",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("app", models.CharField(max_length=40)),
                ("form", models.PositiveSmallIntegerField()),
                (
                    "seed",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="studio.blob"
                    ),
                ),
                (
                    "state",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="studio.blob"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("seed", "app", "form"), name="app_data_ready_once")
                ],
            },
        ),
    ]
