"""The TaskPack, the file format of a release (docs/file-formats.md)."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

PACK_VERSION = 1
MANIFEST = "pack.json"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class UnsupportedPackError(ValueError):
    """The archive is not a pack, or has an unknown version."""


class DamagedPackError(ValueError):
    """A file of the pack is missing, added or changed; the message names it."""


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
        manifest = json.loads(files[MANIFEST])
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
