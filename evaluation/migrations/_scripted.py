"""Models that play parts by a script, as both squashed migrations create them."""

from typing import Any

SCRIPTED = ("helpful", "passive", "asks", "silent", "user", "judge", "helper")
"""Scripted models are in every studio, so that the sample can be tried before a real model is connected."""


def create_scripted_endpoints(apps: Any, schema_editor: Any) -> None:
    endpoints = apps.get_model("evaluation", "ModelEndpoint").objects.using(schema_editor.connection.alias)
    for name in SCRIPTED:
        endpoints.get_or_create(
            name=f"scripted-{name}",
            defaults={"base_url": "scripted:", "model": f"scripted-{name}", "scripted": True, "timeout_seconds": 60},
        )
