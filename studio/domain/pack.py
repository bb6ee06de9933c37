"""A TaskPack: what a release is as a file.

A zip archive with ``pack.json`` beside ``data/``, the folders of π-Bench v2. The same contents give the
same bytes, on any machine: entries are sorted, stored without compression (compressors differ between
versions), and carry no time, owner or system of their own.

``pack.json``::

    {"pack_version": 1, "format": "pi-bench-v2", "benchmark": {"slug", "name", "description"},
     "version": "1.0", "totals": {…}, "tasks": [{"persona", "task", "revision", "sha256"}],
     "evidence": {…}, "exceptions": [{"problem", "reason", "by"}], "files": {path: sha256}}
"""

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
    """The archive is no pack, or of a version this studio does not know."""


class DamagedPackError(ValueError):
    """A file of the pack is missing, added or changed. The text names it."""


def write_pack(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> bytes:
    """The archive. ``files`` are paths below its root (``data/…``); their sha256 join the manifest."""
    document = {
        "pack_version": PACK_VERSION,
        **manifest,
        "files": {path: hashlib.sha256(files[path]).hexdigest() for path in sorted(files)},
    }
    text = json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for path, content in [(MANIFEST, text), *sorted(files.items())]:
            entry = zipfile.ZipInfo(path, date_time=_EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, content)
    return out.getvalue()


def check_pack(files: Mapping[str, bytes]) -> dict[str, Any]:
    """The manifest of an unpacked archive, after every file has been held against it.

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
    promised = manifest.get("files")
    if not isinstance(promised, dict):
        raise DamagedPackError(f"{MANIFEST} does not list the pack's files.")
    found = {path: hashlib.sha256(content).hexdigest() for path, content in files.items() if path != MANIFEST}
    for path in sorted(promised.keys() | found.keys()):
        if promised.get(path) != found.get(path):
            wrong = "is missing" if path not in found else "was added" if path not in promised else "was changed"
            raise DamagedPackError(f"{path} {wrong} since the pack was made. Download it again.")
    return dict(manifest)
