"""The TaskPack, the file format of a release (docs/file-formats.md)."""

from __future__ import annotations

import hashlib
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any

from studio.domain.episode import Split
from studio.domain.signing import SignatureError, check, check_ssh, fingerprint, pem
from studio.domain.splits import HELD_BACK, PUBLISHED
from studio.domain.storable import read_json

PACK_VERSION = 2
MANIFEST = "pack.json"
SOLUTIONS = "solutions"
"""The folder of reference solutions, beside the manifest."""
SUMS = "SHA256SUMS"
"""Lists every other file of the pack but its signatures, as ``sha256sum --check`` reads it."""
SIGNATURE, SSH_SIGNATURE = f"{SUMS}.sig", f"{SUMS}.sshsig"
"""Of ``SUMS``: 64 bytes, and in the form of OpenSSH. A pack has both or none."""
UNLISTED = frozenset((SUMS, SIGNATURE, SSH_SIGNATURE))
PUBLIC_KEY, SIGNERS = "signing-key.pem", "allowed_signers"
"""The key for OpenSSL and for ``ssh-keygen``."""
MAX_TEXT = 500
"""Characters of a string of the manifest that are shown."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_BACKSLASH = "\\"
_ESCAPES = {_BACKSLASH: _BACKSLASH * 2, "\n": r"\n", "\r": r"\r"}
"""The backslash first."""
_UNESCAPED = {escaped: raw for raw, escaped in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\[\\nr]")
_LINE = re.compile(r"(?P<escaped>\\?)(?P<sha256>[0-9a-f]{64})  (?P<name>.+)", re.DOTALL)


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


ERRATUM_EFFECTS = {
    "scores": "Scores are wrong: do not count these tasks.",
    "rejudge": "Judging was wrong: judge earlier sessions again by a later release.",
    "none": "No score depends on it.",
}
"""What an erratum means for scores, in words."""


def archive_name(manifest: Mapping[str, Any]) -> str:
    part = "" if Split.PUBLIC in splits_in(manifest) else "-held-out"
    return f"{manifest['benchmark']['slug']}-{manifest['version']}{part}.zip"


def splits_in(manifest: Mapping[str, Any]) -> tuple[Split, ...]:
    """Of the pack's tasks. A pack from before there were splits is a published one."""
    return PUBLISHED if Split.PUBLIC in manifest.get("splits", PUBLISHED) else HELD_BACK


def manifest_file(manifest: Mapping[str, Any]) -> bytes:
    return json.dumps({"pack_version": PACK_VERSION, **manifest}, ensure_ascii=False, indent=1).encode() + b"\n"


def zipped(files: Mapping[str, bytes], *, compressed: bool = False) -> bytes:
    """By path; a small archive as a whole, as ``write_archive`` makes them."""
    buffer = io.BytesIO()
    write_archive(sorted(files.items()), buffer, compressed=compressed)
    return buffer.getvalue()


def write_archive(files: Iterable[tuple[str, bytes | IO[bytes]]], into: IO[bytes], *, compressed: bool = False) -> None:
    """Reproducible byte for byte unless it is ``compressed`` (compressors differ between versions): undated, in the
    order given. One file is in memory at a time; one that is open is copied in parts, and closed."""
    with zipfile.ZipFile(into, "w") as archive:
        for path, content in files:
            entry = zipfile.ZipInfo(path, date_time=_EPOCH)
            entry.create_system = 3
            entry.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            entry.external_attr = 0o100644 << 16
            if isinstance(content, bytes):
                archive.writestr(entry, content)
                continue
            entry.file_size = content.seek(0, io.SEEK_END)
            content.seek(0)
            with content, archive.open(entry, "w") as written:
                shutil.copyfileobj(content, written)


def write_sums(hashes: Mapping[str, str]) -> bytes:
    """In the format of coreutils, by path: of one whose name has a backslash or a line break, the line begins with a
    backslash and the name has them escaped."""
    lines = []
    for path in sorted(hashes):
        name = path
        for raw, escaped in _ESCAPES.items():
            name = name.replace(raw, escaped)
        lines.append(f"{'' if name == path else _BACKSLASH}{hashes[path]}  {name}\n")
    return "".join(lines).encode()


def read_sums(content: bytes) -> dict[str, str]:
    """sha256 by path. Raises DamagedPackError."""
    hashes = {}
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError:
        raise DamagedPackError(f"{SUMS} is not UTF-8.") from None
    if lines.pop():
        raise DamagedPackError(f"The last line of {SUMS} is cut off.")
    for number, line in enumerate(lines, start=1):
        if (match := _LINE.fullmatch(line)) is None:
            raise DamagedPackError(f"Line {number} of {SUMS} is not a sha256 and a path.")
        name = _ESCAPED.sub(lambda each: _UNESCAPED[each[0]], match["name"]) if match["escaped"] else match["name"]
        if name in hashes:
            raise DamagedPackError(f"{SUMS} lists {name} twice.")
        hashes[name] = match["sha256"]
    return hashes


def check_pack(files: Mapping[str, bytes]) -> dict[str, Any]:
    """Verify an unpacked archive against its sums, and these against its signatures, if there are any.

    Its manifest, as the present version would write it.

    Raises UnsupportedPackError and DamagedPackError.
    """
    try:
        manifest = read_json(files[MANIFEST])
    except KeyError:
        raise UnsupportedPackError(f"There is no {MANIFEST} at the top of the archive.") from None
    except ValueError as error:
        raise DamagedPackError(f"{MANIFEST} is not JSON: {error}.") from None
    version = manifest.get("pack_version") if isinstance(manifest, dict) else None
    if version not in (1, PACK_VERSION):
        raise UnsupportedPackError(f"This studio reads packs up to version {PACK_VERSION}; this one says {version!r}.")
    if version == 1:
        expected, unlisted = manifest.get("files"), frozenset((MANIFEST,))
    else:
        expected, unlisted = read_sums(files[SUMS]) if SUMS in files else None, UNLISTED
    if not isinstance(expected, dict):
        raise DamagedPackError(f"There is no list of the pack’s files in {MANIFEST if version == 1 else SUMS}.")
    actual = {path: hashlib.sha256(content).hexdigest() for path, content in files.items() if path not in unlisted}
    for path in sorted(expected.keys() | actual.keys()):
        if expected.get(path) != actual.get(path):
            problem = "is missing" if path not in actual else "was added" if path not in expected else "was changed"
            raise DamagedPackError(f"{path} {problem} since the pack was made. Download it again.")
    if version != 1:
        signer_of(manifest, files)
    return upgrade(manifest)


def key_files(manifest: Mapping[str, Any]) -> dict[str, bytes]:
    """The key that signs the pack, for programs of others; none if it is unsigned."""
    signed_by = manifest.get("signed_by")
    if signed_by is None:
        return {}
    public, name = signed_by["key"], manifest["benchmark"]["slug"]
    return {PUBLIC_KEY: pem(public), SIGNERS: f"{name} {public}\n".encode()}


def signer_of(manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> str:
    """The fingerprint of the key that signed the pack; empty if none did. Whose key that is, a pack cannot prove.

    Raises DamagedPackError if a signature is missing or does not fit.
    """
    public = _mapping(manifest.get("signed_by")).get("key")
    if public is None:
        if unexplained := files.keys() & {SIGNATURE, SSH_SIGNATURE}:
            raise DamagedPackError(f"There is {min(unexplained)}, and {MANIFEST} says of no key that it signed.")
        return ""
    for name, check_signature in ((SIGNATURE, check), (SSH_SIGNATURE, check_ssh)):
        if name not in files:
            raise DamagedPackError(f"{name} is missing since the pack was made. Download it again.")
        try:
            check_signature(str(public), files[SUMS], files[name])
        except SignatureError as error:
            raise DamagedPackError(f"{name} does not fit {SUMS}: {error}") from None
    return fingerprint(str(public))


def upgrade(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest of this or an earlier version as the present version would write it."""
    upgraded = dict(manifest)
    if upgraded["pack_version"] == 1:  # had the sums of its files, and neither credits nor what its documents say
        del upgraded["files"]
        upgraded["pack_version"] = 2
    return upgraded
