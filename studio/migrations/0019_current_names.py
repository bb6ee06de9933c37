"""Models and fields are called what the glossary calls them. Tables and columns keep their names."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q

import studio.models.fields


def rename_field(model, old, new, field):
    """Two operations; neither changes the database, since ``field`` names the old column."""
    return [migrations.AlterField(model, old, field), migrations.RenameField(model, old, new)]


class Migration(migrations.Migration):
    dependencies = [("studio", "0018_dependency_order_by_index")]

    operations = [
        migrations.AlterModelTable("WorkingCopy", "studio_workingcopy"),
        migrations.RenameModel("WorkingCopy", "Autosave"),
        migrations.AlterField(
            "Autosave",
            "task",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="autosaves",
                to="studio.task",
            ),
        ),
        migrations.AlterField(
            "Autosave",
            "persona",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="autosaves",
                to="studio.persona",
            ),
        ),
        *rename_field(
            "Autosave", "sheet", "form_data", studio.models.fields.OrderedJSONField(null=True, db_column="sheet")
        ),
        *rename_field("Autosave", "kept_at", "autosaved_at", models.DateTimeField(null=True, db_column="kept_at")),
        *rename_field(
            "Autosave",
            "settled",
            "saved_fingerprint",
            models.CharField(blank=True, max_length=64, db_column="settled"),
        ),
        migrations.AlterModelTable("SetAside", "studio_setaside"),
        migrations.RenameModel("SetAside", "ErrorWaiver"),
        migrations.AlterField(
            "ErrorWaiver",
            "task",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="error_waivers", to="studio.task"
            ),
        ),
        *rename_field("BoardMove", "sentence", "summary", models.TextField(db_column="sentence")),
        *rename_field("BoardMove", "found", "digest_before", models.CharField(max_length=32, db_column="found")),
        *rename_field("BoardMove", "left", "digest_after", models.CharField(max_length=32, db_column="left")),
        *rename_field("Review", "points", "answers", models.JSONField(blank=True, default=dict, db_column="points")),
        migrations.SeparateDatabaseAndState(  # the constraints stay as they are; only the state names their field
            state_operations=[
                migrations.RemoveConstraint("Comment", "answer_has_no_place"),
                migrations.RemoveConstraint("Comment", "words_are_in_a_field"),
                *rename_field("Comment", "words", "quote", models.TextField(blank=True, db_column="words")),
                migrations.AddConstraint(
                    "Comment",
                    models.CheckConstraint(
                        condition=Q(reply_to=None) | Q(field="", item_uid=None, quote="", suggestion=None),
                        name="answer_has_no_place",
                    ),
                ),
                migrations.AddConstraint(
                    "Comment",
                    models.CheckConstraint(
                        condition=Q(quote="", suggestion=None) | ~Q(field=""), name="words_are_in_a_field"
                    ),
                ),
            ]
        ),
    ]
