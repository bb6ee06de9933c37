"""Results as one file to hand in.

run.json                          as in the results
sessions/…/session.jsonl          as in the results, without the agent's own state; its last line says what models used
files/                            those that sessions left, by their sha256
SHA256SUMS                        of all of these
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from evaluation.engine.folder import KeptCall, read_lines
from evaluation.runner.errors import PibenchError
from evaluation.runner.results import FILES, RUN, Results, SessionResult
from studio.domain.pack import SUMS, write_sums, zipped

SESSION = "session.jsonl"


def bundle_of(results: Results) -> bytes:
    """The same files for the same results. Raises PibenchError."""
    files = {RUN: (results.folder / RUN).read_bytes()}
    for session in results.sessions:
        if session.kept.turns or session.kept.end:
            files[f"{session.planned.folder}/{SESSION}"] = _lines(results, session)
        for sha256 in _left(session):
            if (content := results.read(sha256)) is None:
                raise PibenchError(f"{results.folder / FILES / sha256} is gone.", "Run it again into a new folder.")
            files[f"{FILES}/{sha256}"] = content
    files[SUMS] = write_sums({path: hashlib.sha256(content).hexdigest() for path, content in files.items()})
    return zipped(files, compressed=True)


def _lines(results: Results, session: SessionResult) -> bytes:
    lines = read_lines(results.folder / session.planned.folder / SESSION)
    for line in lines:
        if "turn" in line:
            line["turn"]["taken"]["reply"]["state"] = {}
    lines.append({"used": _used(session.calls)})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def _used(calls: Iterable[KeptCall]) -> Mapping[str, Mapping[str, Any]]:
    """By purpose, of answered calls."""
    used: dict[str, dict[str, Any]] = defaultdict(lambda: {"calls": 0, "tokens": 0, "cost": Decimal(0), "unpriced": 0})
    for call in calls:
        if call.answered:
            row = used[call.purpose]
            row["calls"] += 1
            row["tokens"] += call.tokens.total
            row["cost"] += call.cost or 0
            row["unpriced"] += call.cost is None
    return {purpose: {**row, "cost": str(row["cost"])} for purpose, row in used.items()}


def _left(session: SessionResult) -> set[str]:
    manifests = [checkpoint.files for checkpoint in session.kept.turns]
    closing = (session.kept.end or {}).get("closing")
    return {sha256 for manifest in (*manifests, closing["files"] if closing else {}) for sha256 in manifest.values()}
