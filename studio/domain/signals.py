"""Example payloads of environment signals, by kind, each with what it tells of."""

from __future__ import annotations

import json
from pathlib import Path

from studio.domain.base import JsonDict

_FILE = Path(__file__).with_name("signals.json")
SIGNAL_EXAMPLES: dict[str, list[tuple[str, JsonDict]]] = {
    kind: list(examples.items()) for kind, examples in json.loads(_FILE.read_text("utf-8")).items()
}
