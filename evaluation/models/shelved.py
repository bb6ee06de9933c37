"""What is stored once, whatever refers to it: texts by their hash, and files of a workspace that did not change."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Mapping
from functools import lru_cache
from typing import Any

from studio.models import Blob
from studio.models.packing import PackedJSONField, pack, unpack
from studio.models.statements import PreparedQuery, binding_cursor

REFERRING = b"\2"
SHORTEST = 64
"""Characters; a reference takes about as much."""
MOST = 255
"""Arguments of one call that refer."""
_CONTENT = PreparedQuery(lambda digest: Blob.objects.filter(pk=digest).values_list("content"), "digest")


def shelve(text: str) -> str:
    """Its hash."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    if not Blob.objects.filter(pk=digest).exists():
        Blob.objects.store([text.encode()])
    return digest


@lru_cache(16)
def unshelve(digest: str) -> str:
    return bytes(_CONTENT.values(digest)[0]).decode()


def pack_arguments(arguments: Mapping[str, Any], stored: Container[str]) -> bytes | Mapping[str, Any]:
    """What to store for a tool's arguments: a file that the call wrote stands in the workspace after its turn, and is
    not stored again. ``stored`` are hashes of such files."""
    found: dict[str, str] = {}
    for name, value in arguments.items():
        if isinstance(value, str) and len(value) >= SHORTEST and len(found) < MOST:
            digest = hashlib.sha256(value.encode()).hexdigest()
            if digest in stored:
                found[name] = digest
    if not found:
        return arguments
    rest = {name: None if name in found else value for name, value in arguments.items()}
    digests = b"".join(map(bytes.fromhex, found.values()))
    document = json.dumps([list(found), rest], ensure_ascii=False, separators=(",", ":"))
    return REFERRING + bytes([len(found)]) + digests + pack(document)


class ArgumentsField(PackedJSONField):
    """Of a tool call; see ``pack_arguments``."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        packed = None if value is None else bytes(value)
        if packed is None or packed[:1] != REFERRING:
            return super().from_db_value(value, expression, connection)
        end = 2 + 32 * packed[1]
        names, arguments = json.loads(unpack(packed[end:]))
        for place, name in enumerate(names):
            arguments[name] = unshelve(packed[2 + 32 * place : 34 + 32 * place].hex())
        return arguments


def pack_changes(base: int, before: Mapping[str, str], manifest: Mapping[str, str]) -> bytes | Mapping[str, str]:
    """What to store for the manifest of a snapshot: its changes since that of another one, the snapshot ``base``, which
    is stored whole; or itself if they are many."""
    changes: dict[str, str | None] = {path: sha for path, sha in manifest.items() if before.get(path) != sha}
    changes |= dict.fromkeys(path for path in before if path not in manifest)
    if 2 * len(changes) > len(manifest) or [*manifest] != sorted(manifest):
        return manifest
    document = json.dumps(changes, ensure_ascii=False, separators=(",", ":"))
    return REFERRING + base.to_bytes(8) + pack(document)


class ManifestField(PackedJSONField):
    """Of a snapshot; see ``pack_changes``."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        packed = None if value is None else bytes(value)
        if packed is None or packed[:1] != REFERRING:
            return super().from_db_value(value, expression, connection)
        changes = json.loads(unpack(packed[9:]))
        merged = _whole_manifest(int.from_bytes(packed[1:9])) | changes
        return {path: merged[path] for path in sorted(merged) if merged[path] is not None}


@lru_cache(64)
def _whole_manifest(pk: int) -> dict[str, Any]:
    """Snapshots do not change."""
    with binding_cursor() as cursor:
        cursor.execute("SELECT manifest FROM evaluation_snapshot WHERE id = %s", [pk])
        whole: dict[str, Any] = json.loads(unpack(bytes(cursor.fetchone()[0])))
    return whole
