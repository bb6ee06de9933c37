"""Models of the assistance package take the names of today. Only Django's state changes; tables and columns stay."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0010_suggestion_failures_to_the_letter")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Helper", "AssistantModel"),
                migrations.AlterModelTable("AssistantModel", "evaluation_helper"),
                migrations.AlterField(
                    "AssistantModel",
                    "benchmark",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assistant_model",
                        to="studio.benchmark",
                    ),
                ),
                migrations.RenameModel("Suggestion", "Proposal"),
                migrations.AlterModelTable("Proposal", "evaluation_suggestion"),
                migrations.AlterField(
                    "Proposal",
                    "task",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="proposals", to="studio.task"
                    ),
                ),
                migrations.AlterField(
                    "Proposal",
                    "revision",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="proposals", to="studio.revision"
                    ),
                ),
                migrations.RemoveConstraint("SuggestionCall", "suggestion_call_answered_once"),
                migrations.RenameModel("SuggestionCall", "ProposalCall"),
                migrations.AlterModelTable("ProposalCall", "evaluation_suggestioncall"),
                migrations.RenameField("ProposalCall", "suggestion", "proposal"),
                migrations.AlterField(
                    "ProposalCall",
                    "proposal",
                    models.ForeignKey(
                        db_column="suggestion_id",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="calls",
                        to="evaluation.proposal",
                    ),
                ),
                migrations.AddConstraint(
                    "ProposalCall",
                    models.UniqueConstraint(
                        condition=Q(response__isnull=False),
                        fields=("proposal", "request_hash"),
                        name="suggestion_call_answered_once",
                    ),
                ),
                migrations.RemoveConstraint("SuggestionDecision", "suggestion_row_decided_once"),
                migrations.RenameModel("SuggestionDecision", "ProposalDecision"),
                migrations.AlterModelTable("ProposalDecision", "evaluation_suggestiondecision"),
                migrations.RenameField("ProposalDecision", "suggestion", "proposal"),
                migrations.AlterField(
                    "ProposalDecision",
                    "proposal",
                    models.ForeignKey(
                        db_column="suggestion_id",
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="decisions",
                        to="evaluation.proposal",
                    ),
                ),
                migrations.AddConstraint(
                    "ProposalDecision",
                    models.UniqueConstraint(fields=("proposal", "row"), name="suggestion_row_decided_once"),
                ),
            ]
        )
    ]
