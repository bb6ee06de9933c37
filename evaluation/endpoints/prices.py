"""List prices of models, from the table that litellm keeps (MIT License, see NOTICE).

To take newer ones: download the wheel of litellm without installing it, and run
``python -m evaluation.endpoints.prices litellm-….whl``.
"""

from __future__ import annotations

import argparse
import json
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from evaluation.endpoints.services import SERVICES, service_at

PATH = Path(__file__).with_name("prices.json")
SOURCE = "litellm/model_prices_and_context_window_backup.json"
FIELDS = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "written": "cache_creation_input_token_cost",
    "output": "output_cost_per_token",
}
UNWANTED = re.compile(r"^ft:|^azure/(us|eu|global|global-standard)/|audio|realtime|tts|deep-research|/container$")


@dataclass(frozen=True)
class ListPrice:
    """In US dollars per million tokens. None: not listed, so unknown."""

    input: Decimal
    output: Decimal
    cached: Decimal | None
    written: Decimal | None
    context: int | None
    """Tokens."""
    dearer_above: int | None
    """Longer prompts cost more, which these prices leave out."""
    on: date
    """When the price was taken."""


def list_price(base_url: str, model: str) -> ListPrice | None:
    """What the service lists for the model; None if it is not in the table, which says nothing of its price."""
    service = service_at(base_url)
    if service is None or not service.prices:
        return None
    table = _table()
    found = table["models"].get(service.prices, {}).get(model)
    if found is None:
        return None
    return ListPrice(
        input=Decimal(found["input"]),
        output=Decimal(found["output"]),
        cached=Decimal(found["cached"]) if "cached" in found else None,
        written=Decimal(found["written"]) if "written" in found else None,
        context=found.get("context"),
        dearer_above=found.get("dearer_above"),
        on=date.fromisoformat(table["date"]),
    )


def price_source() -> str:
    return str(_table()["source"])


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(PATH.read_text())
    return table


def take_prices(wheel: Path, on: date) -> dict[str, Any]:
    """The table for the services of ``SERVICES``, from a wheel of litellm."""
    with zipfile.ZipFile(wheel) as archive:
        entries: Mapping[str, Mapping[str, Any]] = json.loads(archive.read(SOURCE))
    providers = {service.prices for service in SERVICES if service.prices}
    models: dict[str, dict[str, Any]] = {provider: {} for provider in sorted(providers)}
    for name, entry in sorted(entries.items()):
        provider = entry.get("litellm_provider")
        withdrawn = str(entry.get("deprecation_date", "9999")) < on.isoformat()
        if provider in providers and entry.get("mode") in ("chat", "responses") and not withdrawn:
            row = _row(entry)
            if row and not UNWANTED.search(name):
                models[provider][name.removeprefix(f"{provider}/")] = row
    return {"source": wheel.name.split("-cp")[0], "date": on.isoformat(), "models": models}


def _row(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Empty if litellm has no price: its 0 may also mean that nobody knows one."""
    tiers = entry.get("tiered_pricing") or [entry]
    row: dict[str, Any] = {name: _per_million(tiers[0].get(field)) for name, field in FIELDS.items()}
    if not (row["input"] and row["output"]):
        return {}
    steps = [int(found[1]) * 1_000 for key in entry if (found := re.search(r"^input_.*_above_(\d+)k_tokens$", key))]
    if len(tiers) > 1:
        steps.append(int(tiers[0]["range"][1]))
    context = entry.get("max_input_tokens")
    row |= {"context": context if isinstance(context, int) else None, "dearer_above": min(steps, default=None)}
    return {name: value for name, value in row.items() if value is not None}


def _per_million(price: float | None) -> str | None:
    return f"{(Decimal(str(price)) * 1_000_000).normalize():f}" if price else None


def _write(table: Mapping[str, Any]) -> None:
    """One model a line, so that a change of prices can be read as a diff."""
    providers = []
    for provider, models in table["models"].items():
        rows = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in models.items())
        providers.append(f"  {json.dumps(provider)}: {{\n{rows}\n  }}")
    head = "".join(f" {json.dumps(name)}: {json.dumps(table[name])},\n" for name in ("source", "date"))
    PATH.write_text("{\n" + head + ' "models": {\n' + ",\n".join(providers) + "\n }\n}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Take model prices from a wheel of litellm.")
    parser.add_argument("wheel", type=Path)
    taken = take_prices(parser.parse_args().wheel, date.today())  # noqa: DTZ011
    _write(taken)
    print({provider: len(models) for provider, models in taken["models"].items()})
