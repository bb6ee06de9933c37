"""Markdown with texts of others in it: whatever they hold, they are shown as they were written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

_SPECIAL = re.compile(r"[\\`*_\[\]<>#&|~!${}]")
_OPENS_A_BLOCK = re.compile(r"\A(?P<before>|\d{1,9}(?=[.)](?:\s|\Z)))(?P<mark>[-+=.)])")
_RUN = re.compile(r"`+")


def printable(text: str) -> str:
    """Without control characters other than line breaks and tabs, and without marks that reorder what is read."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(
        char
        for char in lines
        if char in "\n\t" or not (unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") or char in _REORDER)
    )


_REORDER = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def inline(text: str) -> str:
    """On one line, without any markup."""
    line = _SPECIAL.sub(lambda match: "\\" + match[0], " ".join(printable(text).split()))
    return _OPENS_A_BLOCK.sub(lambda match: f"{match['before']}\\{match['mark']}", line)


def paragraphs(text: str) -> str:
    """Lines that begin with a dash become a list; blank lines part paragraphs."""
    blocks = []
    for block in re.split(r"\n[ \t]*\n", printable(text).strip()):
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        blocks.append("\n".join(f"- {inline(line[2:])}" if line.startswith("- ") else inline(line) for line in lines))
    return "\n\n".join(filter(None, blocks))


def quote(text: str) -> str:
    """A block in which nothing is markup."""
    text = printable(text).strip("\n")
    fence = "`" * max(3, 1 + max(map(len, _RUN.findall(text)), default=0))
    return f"{fence}text\n{text}\n{fence}"


def bullets(texts: Iterable[str]) -> str:
    """Of Markdown on one line each."""
    return "\n".join(f"- {text}" for text in texts)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Cells are texts of others or numbers; columns of numbers alone are aligned to the right."""
    rows = [list(row) for row in rows]
    numbers = [all(isinstance(row[at], int | float) for row in rows) for at in range(len(head))]
    rule = " | ".join("---:" if number else "---" for number in numbers)
    lines = [" | ".join(head), rule, *(" | ".join(_cell(cell) for cell in row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"
    return inline(str(value))


def document(*blocks: str) -> bytes:
    """Blocks that are empty are left out."""
    return ("\n\n".join(filter(None, blocks)) + "\n").encode()
