from pathlib import Path
from typing import Any

from django.db import migrations

SCRIPTED = ("helpful", "passive", "asks", "silent", "user", "judge", "helper")
"""Scripted models are in every studio, so that the sample can be tried before a real model is connected."""


def create_scripted_endpoints(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("evaluation", "ModelEndpoint").objects.using(schema_editor.connection.alias)
    for name in SCRIPTED:
        endpoints.create(
            name=f"scripted-{name}", base_url="scripted:", model=f"scripted-{name}", scripted=True, timeout_seconds=60
        )


class Migration(migrations.Migration):
    """What models cannot say: the SQL files beside this one, and the models that play parts by a script."""

    dependencies = [("evaluation", "0001_initial"), ("studio", "0002_triggers")]

    operations = [
        migrations.RunSQL("\n".join(file.read_text(encoding="utf-8") for file in sorted(Path(__file__).parent.glob("*.sql")))),
        migrations.RunPython(create_scripted_endpoints, migrations.RunPython.noop),
    ]
