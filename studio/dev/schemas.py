"""JSON Schemas of the API's values, from their models: ``python -m studio.dev.schemas`` writes them into docs/schemas/.

The schemas of a TaskPack's documents and of results stand there too and are edited by hand. They describe well-formed
documents; the importer accepts more: unknown keys survive a round trip, and unexpected types are read with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from studio.domain.base import Spec
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec
from studio.local.paths import CHECKOUT

FOLDER = CHECKOUT / "docs" / "schemas"
MODELS: Mapping[str, type[Spec]] = {
    "task-spec": TaskSpec,
    "persona-spec": PersonaSpec,
    "episode-spec": EpisodeSpec,
    "finding": Finding,
}


def schemas() -> dict[str, str]:
    """Texts by file name."""
    return {f"{name}.schema.json": _text(name, model) for name, model in MODELS.items()}


def _text(name: str, model: type[Spec]) -> str:
    schema = model.model_json_schema()
    if whole := schema.get("$defs", {}).get("ExpectedArtifact"):  # its validator also accepts the path alone
        schema["$defs"]["ExpectedArtifact"] = {"anyOf": [{"type": "string"}, whole]}
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json", **schema}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    for file, text in schemas().items():
        (FOLDER / file).write_text(text)
