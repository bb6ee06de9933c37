"""File types determined from the first bytes; names distinguish only kinds of text."""

from __future__ import annotations

import struct

MEDIA = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
}
"""The only types that are served for browsers to display."""
IMAGES = ("png", "jpeg", "gif", "webp", "svg")
OFFICE = {"docx": "docx", "xlsx": "sheets", "xlsm": "sheets", "xls": "sheets", "ods": "sheets"}
NAMED = {
    "md": "markdown",
    "markdown": "markdown",
    "csv": "table",
    "tsv": "table",
    "json": "json",
    "jsonl": "jsonl",
    "ndjson": "jsonl",
    "yaml": "yaml",
    "yml": "yaml",
    "eml": "mail",
    "svg": "svg",
}
_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def extension(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].lower() if "." in path else ""


def sniff(path: str, content: bytes) -> str:
    """``png`` … ``pdf``, ``docx``, ``sheets``, ``zip``, or a kind of text, by default ``text``; ``decode`` tells
    whether it really is text."""
    by_name = extension(path)
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if content.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if content.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "webp"
    if content.startswith(b"%PDF-"):
        return "pdf"
    if content.startswith((_ZIP, _OLE)):
        return OFFICE.get(by_name, "zip" if content.startswith(_ZIP) else "binary")
    if by_name == "svg":
        return "svg" if b"<svg" in content[:4096].lower() else "text"
    return NAMED.get(by_name, "text")


def is_media(path: str, content: bytes) -> str:
    """The media type to serve these bytes as; empty if a browser may not draw them."""
    return MEDIA.get(sniff(path, content), "")


def pixels(kind: str, content: bytes) -> tuple[int, int] | None:
    try:
        if kind == "png":
            return struct.unpack(">II", content[16:24])
        if kind == "gif":
            return struct.unpack("<HH", content[6:10])
        if kind == "webp" and content[12:16] == b"VP8X":
            return int.from_bytes(content[24:27], "little") + 1, int.from_bytes(content[27:30], "little") + 1
        if kind == "jpeg":
            return _jpeg_pixels(content)
    except struct.error:
        pass
    return None


def _jpeg_pixels(content: bytes) -> tuple[int, int] | None:
    offset = 2
    while offset + 9 < len(content) and content[offset] == 0xFF:
        marker, length = content[offset + 1], int.from_bytes(content[offset + 2 : offset + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", content[offset + 5 : offset + 9])
            return width, height
        offset += 2 + max(length, 2)
    return None
