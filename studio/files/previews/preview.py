"""Previews of files by type."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from studio.files.previews import markup, trees
from studio.files.previews.documents import UnreadableDocumentError, extract
from studio.files.previews.sniff import IMAGES, extension, pixels, sniff
from studio.files.previews.syntax import Flaw, json_flaw, syntax_flaw
from studio.files.previews.tables import ROWS, Row, Table, cut, read_table
from studio.files.previews.texts import Decoded, decode

SHOWN = 200_000
"""Characters of a text that a page shows; the rest is for a download."""
EDITABLE = 200_000
"""Characters of a text that can be edited in a page."""
MOST_PIXELS = 60_000_000
STRETCH = 2_000
"""Characters of one JSON line that are shown."""
LONGEST_DATA = 1_000_000
"""Characters of JSON that are drawn as a tree."""


@dataclass(frozen=True)
class Preview:
    """``html`` is sanitised; everything else has to be escaped."""

    kind: str
    """``text``, ``markdown``, ``table``, ``lines``, ``tree``, ``image``, ``pdf``, ``document``, ``sheets``, ``mail`` or
    ``nothing``."""
    says: str
    """What it is, in a few words."""
    text: str = ""
    html: str = ""
    tables: tuple[Table, ...] = ()
    lines: tuple[tuple[int, str, str], ...] = ()
    """Of JSON lines: number, the line, and what is wrong with it."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Of a mail: its head."""
    attachments: tuple[tuple[str, int], ...] = ()
    cut: bool = False
    """More is in the file than is shown."""
    flaw: Flaw | None = None
    note: str = ""
    """What one should know: how it was decoded, why nothing is shown."""
    decoded: Decoded | None = field(default=None, repr=False)
    """The whole text, where it can be edited in a page."""

    @property
    def editable(self) -> bool:
        return self.decoded is not None


def preview(path: str, content: bytes) -> Preview:
    """Never raises, whatever the file contains."""
    kind = sniff(path, content)
    if kind in IMAGES and kind != "svg":
        return _image(kind, content)
    if kind == "pdf":
        return _pdf(content)
    if kind in ("docx", "sheets"):
        return _office(kind, content)
    if kind in ("zip", "binary"):
        return Preview("nothing", "Archive" if kind == "zip" else "Binary file", note="Download it to view it.")
    decoded = decode(content)
    if decoded is None:
        return Preview("nothing", "Binary file", note="This is not text. Download it to view it.")
    seen = _text(path, kind, content, decoded)
    if decoded.guessed:
        note = "Not UTF-8; read as Windows-1252, so some characters may be wrong. Assistants and judges read UTF-8."
        seen = replace(seen, note=" ".join(filter(None, [seen.note, note])))
    flaw = seen.flaw or (syntax_flaw(path, decoded.text) if len(decoded.text) <= LONGEST_DATA else None)
    return replace(seen, decoded=decoded if len(decoded.text) <= EDITABLE else None, flaw=flaw)


def _text(path: str, kind: str, content: bytes, decoded: Decoded) -> Preview:
    text = decoded.text
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    says = f"{decoded.words}, {lines:,} line{'' if lines == 1 else 's'}"
    shown = Preview("text", f"Text · {says}" if text else "Empty text file", text[:SHOWN], cut=len(text) > SHOWN)
    if not text.strip():
        return shown
    if kind == "svg":
        return Preview("image", f"SVG image · {says}", text=shown.text, cut=shown.cut)
    if kind == "markdown" and len(text) <= markup.LONGEST:
        return replace(shown, kind="markdown", says=f"Markdown · {says}", html=markup.markdown(text))
    if kind == "table":
        table = read_table(text, tabs=extension(path) == "tsv")
        return replace(shown, kind="table", says=_counted(table, decoded), tables=(table,))
    if kind == "jsonl":
        return _json_lines(shown, text)
    if kind in ("json", "yaml") and len(text) <= LONGEST_DATA:
        return _tree(shown, kind, text)
    if kind == "mail":
        return _mail(shown, content)
    return shown


def _counted(table: Table, decoded: Decoded) -> str:
    rows = f"{table.count:,} row{'' if table.count == 1 else 's'}"
    return f"Table · {rows}, {len(table.head)} columns, separated by {table.separated_by} · {decoded.words}"


def _tree(shown: Preview, kind: str, text: str) -> Preview:
    says = shown.says.replace("Text", kind.upper(), 1)
    try:
        tree = trees.draw(trees.read_data(kind, text))
    except (ValueError, RecursionError):
        return replace(shown, says=says)
    return replace(shown, kind="tree", says=says, html=tree.html, cut=tree.cut)


def _json_lines(shown: Preview, text: str) -> Preview:
    rows: list[tuple[int, str, str]] = []
    count, flaw = 0, None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        count += 1
        broken = json_flaw(line)
        flaw = flaw or (Flaw(number, broken.column, broken.message) if broken else None)
        if len(rows) < ROWS:
            rows.append((number, _spread(line) if not broken else line[:STRETCH], broken.message if broken else ""))
    says = f"JSON lines · {count:,} entr{'y' if count == 1 else 'ies'}"
    return replace(shown, kind="lines", says=says, lines=tuple(rows), cut=count > len(rows), flaw=flaw)


def _spread(line: str) -> str:
    try:
        return json.dumps(json.loads(line), ensure_ascii=False, indent=1)[:STRETCH]
    except (ValueError, RecursionError):
        return line[:STRETCH]


def _image(kind: str, content: bytes) -> Preview:
    size = pixels(kind, content)
    says = f"{kind.upper()} image" + (f" · {size[0]:,} × {size[1]:,} pixels" if size else "")
    if size and size[0] * size[1] > MOST_PIXELS:
        return Preview("nothing", says, note="Too large to show here. Download it.")
    return Preview("image", says)


def _pdf(content: bytes) -> Preview:
    try:
        said = extract("pdf", content)
    except UnreadableDocumentError as problem:
        return Preview("pdf", "PDF", note=f"Its text could not be extracted. {problem}")
    pages = said["pages"]
    words = "\n\n".join(f"– {number} –\n{text}" for number, text in enumerate(pages, 1) if text.strip())
    note = "" if words else "It contains only images of pages, no text; an assistant may not be able to read it."
    says = f"PDF · {said['count']} page{'' if said['count'] == 1 else 's'}"
    return Preview("pdf", says, text=words[:SHOWN], cut=said["count"] > len(pages), note=note)


def _office(kind: str, content: bytes) -> Preview:
    says = "Word document" if kind == "docx" else "Spreadsheet"
    try:
        said = extract(kind, content)
    except UnreadableDocumentError as problem:
        return Preview("nothing", says, note=f"Cannot be shown. {problem} Download it to view it.")
    if kind == "docx":
        html = markup.clean(said["html"])
        note = "Images are not shown here; download the file to see them." if said["pictures"] else ""
        return Preview("document", says, html=html, cut=said["cut"], note=note)
    tables = tuple(_sheet(one) for one in said["sheets"])
    count = f"{len(tables)} sheet{'' if len(tables) == 1 else 's'}"
    return Preview("sheets", f"{says} · {count}", tables=tables, cut=said["cut"])


def _sheet(said: dict[str, Any]) -> Table:
    rows = said["rows"]
    body = tuple(Row(number, cut(row)) for number, row in enumerate(rows[1:], 2))
    return Table(cut(rows[0]) if rows else (), body, max(0, said["count"] - 1), name=said["name"])


def _mail(shown: Preview, content: bytes) -> Preview:
    try:
        said = extract("mail", content)
    except UnreadableDocumentError:
        return shown
    return replace(
        shown,
        kind="mail",
        says="E-mail",
        pairs=tuple((name, value) for name, value in said["headers"]),
        text=said.get("text", "")[:SHOWN],
        html=markup.clean(said["html"]) if said.get("html") else "",
        attachments=tuple((name, size) for name, size in said["attachments"]),
    )
