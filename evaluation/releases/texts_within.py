"""The texts within a file: what is written in documents, mail and archives, and in files within them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from evaluation.tools.documents import read_document
from evaluation.tools.tool import ToolError
from studio.domain.archive import Limits, readable_members
from studio.files.previews.documents import UnreadableDocumentError, extract
from studio.files.previews.sniff import sniff

DEEPEST = 3
MOST_FILES = 100
"""Within one file, however deep."""
LIMITS = Limits(file_bytes=16 << 20, unpacked_bytes=64 << 20)


def texts_within(path: str, content: bytes) -> Iterator[str]:
    """Its own first. What cannot be read, or is beyond the limits, is left out: agents cannot read it either."""
    yield from islice(_texts(path, content, DEEPEST), MOST_FILES)


def _texts(path: str, content: bytes, deepest: int) -> Iterator[str]:
    text = content.decode("utf-8", "replace")
    with suppress(ToolError):
        text += f"\n{read_document(path, content) or ''}"
    yield text
    if deepest:
        for name, inner in _files_in(path, content):
            yield from _texts(name, inner, deepest - 1)


def _files_in(path: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    kind = sniff(path, content)
    if kind == "zip":
        yield from readable_members(content, LIMITS)
    elif kind == "mail":
        with suppress(UnreadableDocumentError):
            for name, encoded in extract("mail", content, attached=True)["attached"]:
                yield name, base64.b64decode(encoded)
