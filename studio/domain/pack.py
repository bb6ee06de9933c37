"""The TaskPack, the file format of a release (docs/file-formats.md)."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio.domain.storable import read_json

PACK_VERSION = 1
MANIFEST = "pack.json"
MAX_TEXT = 500
"""Characters of a string of the manifest that are shown."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


class UnsupportedPackError(ValueError):
    """The archive is not a pack, or has an unknown version."""


class DamagedPackError(ValueError):
    """A file of the pack is missing, added or changed; the message names it."""


@dataclass(frozen=True)
class PackFacts:
    """What a pack says of itself; strings are hostile until escaped."""

    version: str
    benchmark: str
    approvers: Mapping[tuple[str, str], tuple[str, ...]]
    """Who approved each task, by persona and task id; tasks that nobody approved are missing."""
    exceptions: tuple[tuple[str, str, str], ...]
    """Problem, reason, and who accepted it."""

    @property
    def names(self) -> list[str]:
        return sorted({name for names in self.approvers.values() for name in names})

    def to_json(self) -> dict[str, Any]:
        return {
            "version": self.version,
            "benchmark": self.benchmark,
            "approved": len(self.approvers),
            "approved_by": self.names,
            "exceptions": [{"message": message, "reason": reason, "by": by} for message, reason, by in self.exceptions],
        }


def read_facts(manifest: Mapping[str, Any]) -> PackFacts:
    """The facts of a manifest; what has another form than expected is left out."""
    benchmark = _mapping(manifest.get("benchmark"))
    approvers = {
        (_text(row.get("persona")), _text(row.get("task"))): names
        for row in map(_mapping, _list(manifest.get("tasks")))
        if (names := tuple(_text(name) for name in _list(row.get("approved_by")) if _text(name)))
    }
    exceptions = tuple(
        (_text(_mapping(row.get("problem")).get("message")), _text(row.get("reason")), _text(row.get("by")))
        for row in map(_mapping, _list(manifest.get("exceptions")))
    )
    return PackFacts(_text(manifest.get("version")), _text(benchmark.get("name")), approvers, exceptions)


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else ""


def write_pack(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """The archive, reproducible byte for byte: sorted, uncompressed (compressors differ between versions), undated.
    ``files`` are keyed by path (``data/…``); their sha256 are added to the manifest."""
    document = {
        "pack_version": PACK_VERSION,
        **manifest,
        "files": {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)},
    }
    manifest_bytes = json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path, content in [(MANIFEST, manifest_bytes), *sorted(files.items())]:
            entry = zipfile.ZipInfo(path, date_time=_EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return buffer.getvalue()


def check_pack(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Verify an unpacked archive against its manifest, which is returned.

    Raises UnsupportedPackError and DamagedPackError.
    """
    try:
        manifest = read_json(files[MANIFEST])
    except KeyError:
        raise UnsupportedPackError(f"There is no {MANIFEST} at the top of the archive.") from None
    except ValueError as error:
        raise DamagedPackError(f"{MANIFEST} is not JSON: {error}.") from None
    version = manifest.get("pack_version") if isinstance(manifest, dict) else None
    if version != PACK_VERSION:
        raise UnsupportedPackError(f"This studio reads packs of version {PACK_VERSION}; this one says {version!r}.")
    expected = manifest.get("files")
    if not isinstance(expected, dict):
        raise DamagedPackError(f"{MANIFEST} does not list the pack's files.")
    actual = {path: hashlib.sha256(content).hexdigest() for path, content in files.items() if path != MANIFEST}
    for path in sorted(expected.keys() | actual.keys()):
        if expected.get(path) != actual.get(path):
            problem = "is missing" if path not in actual else "was added" if path not in expected else "was changed"
            raise DamagedPackError(f"{path} {problem} since the pack was made. Download it again.")
    return dict(manifest)
