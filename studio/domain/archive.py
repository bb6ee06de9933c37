"""Unpacks untrusted zip archives, whose names every common system stores and shows as they are."""

from __future__ import annotations

import io
import re
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from studio.domain.problems import Problem, Report

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
DISGUISING = re.compile(
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Invisible characters, among them those that turn the direction of what follows."""
_DEVICE = re.compile(r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)", re.IGNORECASE)
_NAME_BYTES = 255


def name_problems(name: str) -> Iterator[tuple[str, str]]:
    """What is wrong with the name of a file or folder, each with how to fix it."""
    if CONTROL.search(name):
        yield "The name contains a character that cannot be displayed or is not UTF-8.", "Rename the file."
    if found := DISGUISING.search(name):
        message = f"The name contains the invisible character U+{ord(found[0]):04X}, which can disguise it."
        yield message, "Rename the file."
    if name.strip(".") and name[-1] in ". ":
        yield "The name ends in a dot or a space, which some systems drop.", "Rename the file or folder."
    if _DEVICE.match(name):
        yield f"The name “{name[:20]}” stands for a device on some systems.", "Rename the file or folder."
    if len(name.encode("utf-8", "replace")) > _NAME_BYTES:
        yield f"The name is longer than {_NAME_BYTES} bytes.", "Rename the file."


_CHUNK = 1 << 16
_MIN_BYTES_FOR_RATIO = 1 << 20
"""Unpacked bytes below which the ratio is not checked."""
_CENTRAL_ENTRY = b"PK\x01\x02"
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Limits:
    """Sizes in bytes."""

    archive_bytes: int = 64 << 20
    file_bytes: int = 16 << 20
    unpacked_bytes: int = 256 << 20
    files: int = 20_000
    ratio: int = 200
    """Unpacked to packed size of the whole archive."""
    depth: int = 16
    """Folders above a file."""
    advice: str = "Import the personas one by one, or leave large files out."
    """What to do about an archive that is too large."""


@dataclass
class Unpacked:
    """The files of an archive; none if there are errors."""

    files: dict[str, bytes] = field(default_factory=dict)
    errors: list[Problem] = field(default_factory=list)


def unpack(data: bytes, limits: Limits) -> Unpacked:
    """Reject path traversal, links, devices, encrypted entries, and names that a common file system would confuse.

    Limits apply to the bytes that come out, not to what the headers claim.
    """
    report = Report("")
    files = _unpack(data, limits, report)
    return Unpacked({} if report.errors else files, report.errors)


def readable_members(data: bytes, limits: Limits) -> Iterator[tuple[str, bytes]]:
    """By name, what can be read of an archive that ``unpack`` may refuse: to be searched, never to be written to disk.

    Of a member that is too large or damaged, its start.
    """
    left = limits.unpacked_bytes
    if data.count(_CENTRAL_ENTRY) > 4 * limits.files:
        return
    with suppress(*_DAMAGE), zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in sorted(archive.infolist(), key=lambda entry: entry.orig_filename):
            if not left:
                break
            content, most = bytearray(), min(left, limits.file_bytes)
            if entry.compress_type in _METHODS:
                with suppress(*_DAMAGE):
                    for chunk in _chunks(archive, entry):
                        content += chunk[: most - len(content)]
                        if len(content) == most:
                            break
            left -= len(content)
            if content:
                yield entry.orig_filename, bytes(content)


def check_names(paths: Collection[str], limits: Limits) -> list[Problem]:
    report = Report("")
    seen: dict[str, str] = {}
    folders: dict[str, str] = {}
    if len(paths) > limits.files:
        _too_many(len(paths), limits, report)
    for path in paths:
        own = Report(_printable(path))
        _check_name(path, limits, own)
        if (before := seen.get(_folded(path))) is not None:
            same = "appears twice" if before == path else f"differs from “{_printable(before)}” only in spelling"
            fix = "Rename or remove one of the two: on many systems one would overwrite the other."
            own.error(f"The name {same}.", fix)
        seen.setdefault(_folded(path), path)
        for folder in _folders_of(path):
            other = folders.setdefault(_folded(folder), folder)
            if other != folder:
                fix = "Rename or remove one of the two: on many systems they are one folder."
                own.error(f"The folder differs from “{_printable(other)}” only in how it is written.", fix)
                folders[_folded(folder)] = folder
        report.errors += own.errors
    for key in seen.keys() & folders.keys():
        both = Report(_printable(seen[key]))
        both.error("The name is used for both a file and a folder.", "Rename one of the two.")
        report.errors += both.errors
    return report.errors


def why_unsafe(path: str) -> str:
    """Why this is not a portable relative path; empty if it is one."""
    report = Report("")
    _check_name(path, Limits(), report)
    return " ".join(error.message for error in report.errors)


def _unpack(data: bytes, limits: Limits, report: Report) -> dict[str, bytes]:
    if len(data) > limits.archive_bytes:
        report.error(f"The archive has {len(data):,} bytes; the limit is {limits.archive_bytes:,}.", limits.advice)
        return {}
    if (count := data.count(_CENTRAL_ENTRY)) > 4 * limits.files:
        _too_many(count, limits, report)
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = [entry for entry in archive.infolist() if not _is_folder(entry)]
            _check_entries(archive.infolist(), limits, report)
            report.errors += check_names([entry.orig_filename for entry in entries], limits)
            if report.errors:
                return {}
            return _read(archive, entries, len(data), limits, report)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, NotImplementedError, ValueError, OSError, EOFError):
        report.error("This zip file is damaged.", "Pack it again, as an ordinary zip.")
        return {}


def _check_entries(entries: Iterable[zipfile.ZipInfo], limits: Limits, report: Report) -> None:
    for entry in entries:
        entry_report = Report(_printable(entry.orig_filename))
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind == stat.S_IFLNK:
            entry_report.error("This is a link.", "Put the file itself into the archive.")
        elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            entry_report.error("This is neither a file nor a folder.", "Remove it from the archive.")
        if _is_folder(entry):
            _check_name(entry.orig_filename[:-1], limits, entry_report)
        if entry.flag_bits & 0x41:
            entry_report.error("This is encrypted.", "Pack the archive without a password.")
        if entry.compress_type not in _METHODS:
            entry_report.error("This uses an unsupported compression method.", "Pack it again, as an ordinary zip.")
        if entry.file_size > limits.file_bytes:
            _too_large(entry_report, limits)
        report.errors += entry_report.errors


def _read(
    archive: zipfile.ZipFile, entries: Iterable[zipfile.ZipInfo], packed: int, limits: Limits, report: Report
) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    total = 0
    for entry in entries:
        content = bytearray()
        entry_report = Report(_printable(entry.orig_filename))
        try:
            for chunk in _chunks(archive, entry):
                content += chunk
                total += len(chunk)
                if len(content) > limits.file_bytes:
                    _too_large(entry_report, limits)
                    break
                if total > limits.unpacked_bytes or (total > _MIN_BYTES_FOR_RATIO and total > packed * limits.ratio):
                    most = f"{limits.unpacked_bytes:,} bytes, {limits.ratio} times the archive's size"
                    message = f"The archive unpacks to more than {total:,} bytes from {packed:,}."
                    report.error(message, f"At most {most}, are allowed. {limits.advice}")
                    return {}
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
            entry_report.error(f"This cannot be unpacked: {error}.", "Pack the archive again.")
        report.errors += entry_report.errors
        files[entry.orig_filename] = bytes(content)
    return files


def _chunks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _check_name(path: str, limits: Limits, report: Report) -> None:
    parts = path.split("/")
    if not path or path.startswith("/") or re.match("[A-Za-z]:", path):
        report.error("The name is not a path inside the archive.", "Pack the folder itself, with relative names.")
    elif ".." in parts or "." in parts or "" in parts:
        report.error("The name leads out of its folder.", "Pack the folder itself, without “..” in the names.")
    if "\\" in path:
        report.error("The name contains a backslash.", "Use “/” between folders, and none in names.")
    for message, fix in dict.fromkeys(problem for part in parts for problem in name_problems(part)):
        report.error(message, fix)
    if len(parts) - 1 > limits.depth:
        report.error(f"The file is more than {limits.depth} folders deep.", "Move it up.")


def _too_large(report: Report, limits: Limits) -> None:
    message = f"The file is larger than {limits.file_bytes:,} bytes."
    report.error(message, "Leave it out, or split it into smaller files.")


def _too_many(count: int, limits: Limits, report: Report) -> None:
    report.error(f"There are {count:,} files; the limit is {limits.files:,}.", limits.advice)


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    return entry.orig_filename.endswith("/") and entry.file_size == 0


def _folders_of(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    for depth in range(1, len(parts) + 1):
        yield "/".join(parts[:depth])


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _printable(path: str) -> str:
    return DISGUISING.sub("\N{REPLACEMENT CHARACTER}", CONTROL.sub("\N{REPLACEMENT CHARACTER}", path))[:300]
