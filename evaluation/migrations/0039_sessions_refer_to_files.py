"""Tool calls refer to the files they wrote, and snapshots to one before them. Pages of indexes whose rows never change are
filled, because nothing will be put between."""

from __future__ import annotations

from django.db import migrations

from evaluation.models.shelved import ArgumentsField, ManifestField

INDEXES = (
    "evaluation_modelcall_pkey",
    "evaluation_turn_pkey",
    "turn_number",
    "evaluation_toolcall_pkey",
    "tool_call_position",
    "evaluation_verdict_pkey",
    "verdict_once",
    "evaluation_snapshot_pkey",
    "evaluation_sessionintent_pkey",
    "one_terminal_status",
)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0038_packed_sessions")]

    operations = [
        migrations.AlterField("ToolCall", "arguments", ArgumentsField(default=dict)),
        migrations.AlterField("Snapshot", "manifest", ManifestField(default=dict)),
        *(
            migrations.RunSQL(f"ALTER INDEX {name} SET (fillfactor = 100)", f"ALTER INDEX {name} RESET (fillfactor)")
            for name in INDEXES
        ),
    ]
