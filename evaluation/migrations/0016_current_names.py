"""Fields of proposals and rehearsals are called what the glossary calls them. Columns keep their names."""

from typing import Any

import django.db.models.deletion
import studio.models.fields
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


def rename_field(model: str, old: str, new: str, field: models.Field[Any, Any]) -> list[Any]:
    """Two operations; neither changes the database, since ``field`` names the old column."""
    return [migrations.AlterField(model, old, field), migrations.RenameField(model, old, new)]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("evaluation", "0015_piloted_events_name_no_agent"),
    ]

    operations = [
        *rename_field(
            "AssistantModel",
            "most_tokens",
            "max_tokens",
            models.PositiveBigIntegerField(default=0, db_column="most_tokens"),
        ),
        *rename_field(
            "Proposal",
            "asked_by",
            "requested_by",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
                db_column="asked_by_id",
            ),
        ),
        *rename_field(
            "Proposal", "asked_at", "requested_at", models.DateTimeField(auto_now_add=True, db_column="asked_at")
        ),
        *rename_field(
            "Proposal",
            "cut",
            "truncated_files",
            studio.models.fields.OrderedJSONField(default=list, db_column="cut"),
        ),
        *rename_field(
            "Rehearsal",
            "under_way",
            "current_turn",
            studio.models.fields.OrderedJSONField(default=dict, db_column="under_way"),
        ),
        *rename_field(
            "Rehearsal", "touched_at", "updated_at", models.DateTimeField(auto_now=True, db_column="touched_at")
        ),
        migrations.SeparateDatabaseAndState(  # the constraints stay as they are; only the state names their fields
            state_operations=[
                migrations.RemoveConstraint("AssistantModel", "helper_cost_not_negative"),
                *rename_field(
                    "AssistantModel",
                    "most_cost",
                    "max_cost",
                    models.DecimalField(decimal_places=2, default=0, max_digits=12, db_column="most_cost"),
                ),
                migrations.AddConstraint(
                    "AssistantModel",
                    models.CheckConstraint(condition=Q(max_cost__gte=0), name="helper_cost_not_negative"),
                ),
                migrations.RemoveConstraint("ProposalDecision", "suggestion_dismissed_leaves_nothing"),
                *rename_field("ProposalDecision", "taken", "accepted", models.BooleanField(db_column="taken")),
                *rename_field(
                    "ProposalDecision", "changed", "edited", models.BooleanField(default=False, db_column="changed")
                ),
                migrations.AddConstraint(
                    "ProposalDecision",
                    models.CheckConstraint(
                        condition=Q(accepted=True) | Q(accepted=False, edited=False, revision__isnull=True, text=""),
                        name="suggestion_dismissed_leaves_nothing",
                    ),
                ),
            ]
        ),
    ]
