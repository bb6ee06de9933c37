"""``CITATION.cff``, version 1.2.0 of the format."""

from __future__ import annotations

from evaluation.releases.documents.yaml_text import Value, yaml_text
from studio.domain.base import JsonDict
from studio.domain.credits import LICENCES


def citation_file(manifest: JsonDict) -> bytes:
    credits, benchmark = manifest["credits"], manifest["benchmark"]
    values: dict[str, Value] = {
        "cff-version": "1.2.0",
        "message": "If you use this benchmark, please cite it as below, with its version.",
        "type": "dataset",
        "title": benchmark["name"],
        "version": manifest["version"],
        "date-released": manifest["released"],
        "authors": [author(name) for name in credits["contributors"]]
        or [{"name": f"The makers of {benchmark['name']}"}],
    }
    if credits["licence"] in LICENCES:
        values["license"] = credits["licence"]
    if benchmark["description"].strip():
        values["abstract"] = benchmark["description"]
    values["keywords"] = ["benchmark", "agents", "proactive assistance", f"canary {manifest['canary']}"]
    return yaml_text(values).encode()


def author(name: str) -> dict[str, Value]:
    """ "Lovelace, Ada" is a person; any other name is cited as it is written."""
    family, comma, given = name.partition(",")
    if comma and family.strip() and given.strip():
        return {"family-names": family.strip(), "given-names": given.strip()}
    return {"name": name}
