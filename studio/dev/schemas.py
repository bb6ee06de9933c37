"""JSON Schemas of a TaskPack's documents and of the API's values, in docs/schemas/.

``python -m studio.dev.schemas`` writes them. They describe well-formed documents; the importer accepts more: unknown
keys survive a round trip, and unexpected types are read with a warning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from studio.dev.pack_manifest import PackManifest
from studio.dev.pibench_documents import EpisodeDocument, ProfileDocument, TaskDocument, ToolsMapping
from studio.dev.results_document import FigureDocument, ResultsDocument
from studio.domain.episode import EpisodeSpec
from studio.domain.findings import Finding
from studio.domain.persona import PersonaSpec
from studio.domain.task import TaskSpec

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "schemas"

DOCUMENTS: Mapping[str, Any] = {
    "pack": PackManifest,
    "task": TaskDocument,
    "profile": ProfileDocument,
    "episode": EpisodeDocument,
    "tools": ToolsMapping | list[str],
    "results": ResultsDocument,
    "results-figure": FigureDocument,
    "task-spec": TaskSpec,
    "persona-spec": PersonaSpec,
    "episode-spec": EpisodeSpec,
    "finding": Finding,
}
"""By schema name."""


def schemas() -> dict[str, str]:
    return {f"{name}.schema.json": _text(name, kind) for name, kind in DOCUMENTS.items()}


def _text(name: str, kind: Any) -> str:
    schema = TypeAdapter(kind).json_schema()
    if whole := schema.get("$defs", {}).get("ExpectedArtifact"):  # its validator also accepts the path alone
        schema["$defs"]["ExpectedArtifact"] = {"anyOf": [{"type": "string"}, whole]}
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"{name}.schema.json", **schema}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in schemas().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
