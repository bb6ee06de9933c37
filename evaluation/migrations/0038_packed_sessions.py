"""Sessions take less room: texts of turns and tool calls are packed, hashes are bytes. Calls refer to their endpoint without
a constraint, since what they are made for does so with one."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models

from studio.models.packing import DigestField, PackedJSONField, PackedTextField

CALLS = {
    "ModelCall": "evaluation_modelcall",
    "RehearsalCall": "evaluation_rehearsalcall",
    "ProposalCall": "evaluation_suggestioncall",
    "OpinionCall": "evaluation_opinioncall",
}
TEXT = "'\\x00'::bytea || convert_to({}::text, 'UTF8')"
HASH = "decode({}, 'hex')"


def _as_bytes(model: str, table: str, name: str, field: models.Field[Any, Any], value: str) -> Any:
    return migrations.SeparateDatabaseAndState(
        [migrations.RunSQL(f"ALTER TABLE {table} ALTER COLUMN {name} TYPE bytea USING {value.format(name)}")],
        [migrations.AlterField(model, name, field)],
    )


def _endpoint(model: str) -> Any:
    field = models.ForeignKey(
        "evaluation.modelendpoint",
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
    )
    return migrations.AlterField(model, "endpoint", field)


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0037_app_data_ready_to_read")]

    operations = [
        _as_bytes("Turn", "evaluation_turn", "user_message", PackedTextField(), TEXT),
        _as_bytes("Turn", "evaluation_turn", "reply", PackedTextField(), TEXT),
        _as_bytes("Turn", "evaluation_turn", "next_message", PackedTextField(blank=True, default=""), TEXT),
        _as_bytes("ToolCall", "evaluation_toolcall", "arguments", PackedJSONField(default=dict), TEXT),
        _as_bytes("ToolCall", "evaluation_toolcall", "result", PackedTextField(blank=True, default=""), TEXT),
        _as_bytes("ToolCall", "evaluation_toolcall", "key", DigestField(blank=True, default=""), HASH),
        _as_bytes("Snapshot", "evaluation_snapshot", "manifest", PackedJSONField(default=dict), TEXT),
        _as_bytes("Snapshot", "evaluation_snapshot", "sha256", DigestField(), HASH),
        *(_as_bytes(model, table, "request_hash", DigestField(), HASH) for model, table in CALLS.items()),
        *map(_endpoint, CALLS),
        migrations.AlterField(
            "Judging",
            "endpoint",
            models.ForeignKey(
                "evaluation.modelendpoint", on_delete=django.db.models.deletion.PROTECT, related_name="+"
            ),
        ),
        migrations.AlterField("Verdict", "label", models.TextField(blank=True)),
        migrations.AlterField(
            "Verdict",
            "model_call",
            models.ForeignKey(
                "evaluation.modelcall",
                db_constraint=False,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
            ),
        ),
    ]
