"""Packs as a whole, and what signed statements say."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from studio.domain.pack import MANIFEST, SUMS, manifest_file, write_sums, zipped
from studio.domain.signing import check


def write_pack(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """``files`` are keyed by path (``data/…``); manifest and sums are added."""
    whole = {**files, MANIFEST: manifest_file(manifest)}
    whole[SUMS] = write_sums({path: hashlib.sha256(content).hexdigest() for path, content in whole.items()})
    return zipped(whole)


def read_statement(public: str, envelope: Any) -> Any:
    """What the key signed, in the form of DSSE 1.0.2. Raises SignatureError."""
    [signature] = envelope["signatures"]
    kind, payload = envelope["payloadType"].encode(), base64.b64decode(envelope["payload"])
    content = b" ".join((b"DSSEv1", b"%d" % len(kind), kind, b"%d" % len(payload), payload))
    check(public, content, base64.b64decode(signature["sig"]))
    return json.loads(payload)
