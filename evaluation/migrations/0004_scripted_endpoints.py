"""The scripted models are in every studio, so that the sample can be tried before a real model is connected."""

from __future__ import annotations

from typing import Any

from django.db import migrations

NAMES = (
    "scripted-helpful",
    "scripted-passive",
    "scripted-asks",
    "scripted-silent",
    "scripted-user",
    "scripted-judge",
)


def create(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("evaluation", "ModelEndpoint").objects.using(schema_editor.connection.alias)
    for name in NAMES:
        endpoints.get_or_create(
            name=name, defaults={"base_url": "scripted:", "model": name, "scripted": True, "timeout_seconds": 60}
        )


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0003_invariants")]

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
