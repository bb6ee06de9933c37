"""Documents as lines of text: Word, PowerPoint, spreadsheets, PDF, mail, notebooks.

They come from strangers, so parsers run in a confined process (``studio.files.previews``).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

from evaluation.tools.tool import ToolError
from studio.files.previews.documents import UnreadableDocumentError, extract
from studio.files.previews.sniff import extension, sniff

BLOCKS = {"p", "div", "li", "tr", "table", "h1", "h2", "h3", "h4", "h5", "h6", "br", "ul", "ol"}


def read_document(path: str, content: bytes) -> str | None:
    """Its text; None if it is not a document. Raises ToolError if it cannot be read."""
    if extension(path) == "ipynb":
        return notebook_text(path, content)
    kind = "slides" if _is_presentation(path, content) else sniff(path, content)
    if kind not in _TEXTS:
        return None
    try:
        return _TEXTS[kind](extract(kind, content, whole=True))
    except UnreadableDocumentError as error:
        raise ToolError(f"{path} cannot be read. {error}") from None


def notebook_text(path: str, content: bytes) -> str:
    """Each cell under its number, with what it printed."""
    lines = []
    for number, cell in enumerate(notebook_cells(path, content)):
        lines.append(f"[cell {number}: {cell.get('cell_type', 'raw')}, id {cell.get('id', number)}]")
        lines.append(joined(cell.get("source")))
        for output in cell.get("outputs") or ():
            if isinstance(output, dict) and (text := _output_text(output)):
                lines.append(f"[output]\n{text}")
    return "\n".join(lines) or "[the notebook has no cells]"


def notebook_cells(path: str, content: bytes) -> list[dict[str, Any]]:
    """Raises ToolError."""
    try:
        cells = json.loads(content)["cells"]
        assert isinstance(cells, list) and all(isinstance(cell, dict) for cell in cells)
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        raise ToolError(f"{path} is not a Jupyter notebook: it must be JSON with a list of cells.") from None
    return cells


def joined(source: Any) -> str:
    """A notebook's text: one string, or its lines."""
    return "".join(map(str, source)) if isinstance(source, list) else str(source or "")


def _is_presentation(path: str, content: bytes) -> bool:
    return extension(path) == "pptx" and content.startswith(b"PK\x03\x04")


def _output_text(output: dict[str, Any]) -> str:
    data = output.get("data")
    shown = data.get("text/plain") if isinstance(data, dict) else None
    error = f"{output['ename']}: {output.get('evalue', '')}" if "ename" in output else ""
    return joined(output.get("text") or shown) or error


def _pdf_text(document: dict[str, Any]) -> str:
    pages, count = document["pages"], document["count"]
    text = "\n".join(f"[page {number} of {count}]\n{page}" for number, page in enumerate(pages, start=1))
    if not any(page.strip() for page in pages):
        return f"{text}\n[no text: the {count} pages are pictures]"
    return text if len(pages) == count else f"{text}\n[cut here: {count - len(pages)} more pages]"


def _sheets_text(document: dict[str, Any]) -> str:
    lines = []
    for sheet in document["sheets"]:
        lines.append(f"[sheet {sheet['name']}: {max(sheet['count'], len(sheet['rows']))} rows]")
        lines += ["\t".join(row) for row in sheet["rows"]]
        if sheet["count"] > len(sheet["rows"]):
            lines.append(f"[cut here: {sheet['count'] - len(sheet['rows'])} more rows]")
    return "\n".join(lines)


def _slides_text(document: dict[str, Any]) -> str:
    lines = []
    for number, slide in enumerate(document["slides"], start=1):
        lines += [f"[slide {number} of {document['count']}]", *slide["lines"]]
        if slide["notes"]:
            lines += ["[notes]", *slide["notes"]]
    return "\n".join(lines)


def _mail_text(document: dict[str, Any]) -> str:
    lines = [f"{name}: {value}" for name, value in document["headers"]]
    lines += ["", document["text"] if "text" in document else plain_text(document.get("html", ""))]
    lines += [f"[attached: {name}, {size} bytes]" for name, size in document["attachments"]]
    return "\n".join(lines)


def plain_text(html: str) -> str:
    """The words of a page, a line for each paragraph or row; cells are separated by tabs."""
    parser = _Words()
    parser.feed(html)
    parser.close()
    lines = (" ".join(line.split(" ")).strip() for line in "".join(parser.parts).splitlines())
    return "\n".join(line for line in lines if line)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._silent = 0
        self._cell = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._silent += 1
        elif tag in ("td", "th"):
            self.parts.append("\t")
            self._cell += 1
        elif tag in BLOCKS and not (self._cell and tag == "p"):
            self.parts.append("\n- " if tag == "li" else "\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._silent = max(0, self._silent - 1)
        elif tag in ("td", "th"):
            self._cell = max(0, self._cell - 1)
        elif tag in BLOCKS and not (self._cell and tag == "p"):
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data if data.strip() else " ")


_TEXTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "docx": lambda document: plain_text(document["html"]),
    "sheets": _sheets_text,
    "slides": _slides_text,
    "pdf": _pdf_text,
    "mail": _mail_text,
}
