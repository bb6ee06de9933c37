"""Decoding and encoding of text files."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from studio.domain.storable import normalize_newlines

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f]")
_MARKS = [(codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")]


@dataclass(frozen=True)
class Decoded:
    """A text with what is needed to encode it as it was."""

    text: str
    """With ``\\n`` between its lines."""
    encoding: str
    crlf: bool = False

    @property
    def guessed(self) -> bool:
        return self.encoding == "cp1252"

    @property
    def encoding_label(self) -> str:
        names = {
            "utf-8": "UTF-8",
            "utf-8-sig": "UTF-8 with a byte order mark",
            "utf-16": "UTF-16",
            "cp1252": "Windows-1252",
        }
        return names[self.encoding]

    @property
    def form(self) -> str:
        return " ".join(filter(None, ["crlf" if self.crlf else "", "mark" if self.encoding == "utf-8-sig" else ""]))


def decode(content: bytes) -> Decoded | None:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _read(content, encoding)
    if (read := _read(content, "utf-8")) is not None:
        return read
    if len(_CONTROL.findall(content[:8192].decode("latin-1"))):
        return None
    return _read(content, "cp1252")


def encode(text: str, form: str) -> bytes:
    lines = normalize_newlines(text)
    if "crlf" in form.split():
        lines = lines.replace("\n", "\r\n")
    return lines.encode("utf-8-sig" if "mark" in form.split() else "utf-8", "replace")


def _read(content: bytes, encoding: str) -> Decoded | None:
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    crlf = "\r\n" in text and "\n" not in text.replace("\r\n", "")
    return Decoded(normalize_newlines(text), encoding, crlf)
