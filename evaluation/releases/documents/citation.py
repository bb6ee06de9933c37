"""``CITATION.cff``, version 1.2.0 of the format, and the YAML it is written in: every text is quoted as JSON quotes it,
so that no text can be read as anything else."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from evaluation.releases.documents.markdown import printable
from studio.domain.base import JsonDict
from studio.domain.credits import LICENCES

Value = str | bool | Sequence["Value"] | Mapping[str, "Value"]


def yaml_text(values: Mapping[str, Value]) -> str:
    """Keys are plain words of ours."""
    return "".join(f"{key}: {_flow(value)}\n" for key, value in values.items())


def _flow(value: Value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(printable(value), ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(each)}" for key, each in value.items()) + "}"
    return "[" + ", ".join(map(_flow, value)) + "]"


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
