"""What a model proposed and what people did with it is never changed afterwards; the scripted helper of authors."""

from typing import Any

from django.db import migrations

from studio.models.frozen import freeze

DECIDED = """
CREATE TRIGGER "evaluation_suggestion_decided" BEFORE UPDATE ON "evaluation_suggestion" FOR EACH ROW
WHEN (OLD.state IN ('taken', 'dismissed')) EXECUTE FUNCTION refuse_update();
"""


def create(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("evaluation", "ModelEndpoint").objects.using(schema_editor.connection.alias)
    endpoints.get_or_create(
        name="scripted-helper",
        defaults={"base_url": "scripted:", "model": "scripted-helper", "scripted": True, "timeout_seconds": 60},
    )


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0008_assisting"), ("studio", "0002_invariants")]

    operations = [
        freeze("evaluation_suggestioncall"),
        freeze("evaluation_suggestiondecision"),
        migrations.RunSQL(DECIDED, 'DROP TRIGGER "evaluation_suggestion_decided" ON "evaluation_suggestion";'),
        migrations.RunPython(create, migrations.RunPython.noop),
    ]
