"""The tool servers of a pilot, as they were frozen with its personas."""

from __future__ import annotations

from evaluation.models import Pilot
from studio.domain.base import JsonDict
from studio.domain.persona import PersonaSpec
from studio.domain.tool_servers import FOLDER
from studio.models import PersonaRevision
from studio.personas.tool_servers import servers_of


def frozen_servers(pilot: Pilot) -> list[JsonDict]:
    """``[{"persona", "name", "hash", "tools"}]``: the hash is of the tools' names, descriptions and parameters."""
    rows = PersonaRevision.objects.filter(pk__in=pilot.runs.values("persona_revision"))
    having = [row for row in rows if any(file["path"].startswith(f"{FOLDER}/") for file in row.spec.get("files", ()))]
    specs = [PersonaSpec.model_validate(row.spec) for row in having]
    return [
        {
            "persona": spec.user_id,
            "name": row.name,
            "hash": row.server.hash,
            "tools": [tool.to_json() for tool in row.server.tools],
        }
        for spec in sorted(specs, key=lambda spec: spec.user_id)
        for row in servers_of(spec)
        if row.server
    ]
