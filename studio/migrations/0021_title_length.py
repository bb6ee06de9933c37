"""Titles have at most 300 characters. Longer ones that are stored stay until somebody edits their task."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models.functions import Length
from django.db.models.lookups import LessThanOrEqual


class Migration(migrations.Migration):
    dependencies = [("studio", "0020_sign_in_records")]

    operations = [
        AddConstraintNotValid(
            "task",
            models.CheckConstraint(condition=LessThanOrEqual(Length("title"), 300), name="task_title_length"),
        ),
    ]
