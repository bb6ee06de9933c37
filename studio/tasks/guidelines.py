"""Authoring guidelines after the paper's Tables 9 to 11, with good and bad examples."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parents[2] / "fixtures" / "guidelines.json"
PARTS = {
    "initial_request": "Request",
    "intents": "Hidden intents",
    "checklist": "Checklist",
}


@lru_cache(maxsize=1)
def guidelines() -> list[dict[str, Any]]:
    rows = json.loads(FILE.read_text("utf-8"))
    return [
        {"field": field, "name": name, "rows": [row for row in rows if row["field"] == field]}
        for field, name in PARTS.items()
    ]
