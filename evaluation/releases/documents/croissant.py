"""``croissant.json``: the flat files for tools that read Croissant 1.1 (mlcommons.org/croissant)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from evaluation.releases.documents.flat import NOT_CARRIED, TABLES
from studio.domain.base import JsonDict
from studio.domain.credits import LICENCES, OWN

CONTEXT = Path(__file__).with_name("croissant_context.json")
TYPES = {str: "sc:Text", int: "sc:Integer", float: "sc:Float"}


def croissant_file(manifest: JsonDict, files: Mapping[str, tuple[str, int]]) -> bytes:
    """``files``: sha256 and size of the flat files by path."""
    benchmark, credits = manifest["benchmark"], manifest["credits"]
    creators = [{"@type": "sc:Person", "name": name} for name in credits["contributors"]]
    document = {
        "@context": json.loads(CONTEXT.read_text("utf-8")),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": benchmark["slug"],
        "alternateName": benchmark["name"],
        "description": f"{benchmark['description'] or benchmark['name']}\n\nNot carried: {NOT_CARRIED}.",
        "version": manifest["version"],
        "datePublished": manifest["released"],
        "license": _licence(credits),
        "creator": creators or [{"@type": "sc:Organization", "name": f"The makers of {benchmark['name']}"}],
        "keywords": ["benchmark", "agents", f"canary {manifest['canary']}"],
        "rai:dataCollection": credits["making"] or "Written by experts of their field in a studio.",
        "rai:dataLimitations": credits["limits"] or "See DATA_CARD.md.",
        "rai:dataUseCases": credits["purpose"] or "See DATA_CARD.md.",
        "rai:personalSensitiveInformation": credits["sanitisation"] or "See DATA_CARD.md.",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": path,
                "name": path,
                "contentUrl": path,
                "contentSize": f"{size} B",
                "encodingFormat": "application/jsonlines",
                "sha256": sha256,
            }
            for path, (sha256, size) in files.items()
        ],
        "recordSet": [
            _records(table, path)
            for table in TABLES
            for path in files
            if PurePosixPath(path).stem.partition("-")[0] == table
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def _licence(credits: JsonDict) -> str:
    licence = credits["licence"]
    return "LICENSE" if licence == OWN else LICENCES[licence][1] if licence else "unknown"


def _records(table: str, path: str) -> JsonDict:
    name = PurePosixPath(path).stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": TYPES[kind],
                "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
            }
            for column, kind in TABLES[table].items()
        ],
    }
