"""Previews of files by type."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from studio.files.previews import markup
from studio.files.previews.documents import UnreadableDocumentError, extract
from studio.files.previews.sniff import IMAGES, extension, pixels, sniff
from studio.files.previews.texts import (
    ROWS,
    Decoded,
    PreviewTable,
    SyntaxFlaw,
    TableRow,
    cut,
    decode,
    json_flaw,
    read_table,
    syntax_flaw,
)

MAX_SHOWN = 200_000
"""Characters of a text shown on a page."""
MAX_EDITABLE = 200_000
"""Characters of a text that can be edited on a page."""
MAX_PIXELS = 60_000_000
MAX_LINE = 2_000
"""Characters shown of one JSON line."""
MAX_PARSED = 1_000_000
"""Characters of JSON or YAML that are read."""


@dataclass(frozen=True)
class Preview:
    """``html`` is sanitised; everything else has to be escaped."""

    kind: str
    """``text``, ``markdown``, ``table``, ``lines``, ``image``, ``pdf``, ``document``, ``sheets``, ``mail`` or
    ``nothing``."""
    summary: str
    """Type and size, for people."""
    text: str = ""
    html: str = ""
    tables: tuple[PreviewTable, ...] = ()
    lines: tuple[tuple[int, str, str], ...] = ()
    """Of JSON lines: number, text and syntax error."""
    headers: tuple[tuple[str, str], ...] = ()
    """Of an email."""
    attachments: tuple[tuple[str, int], ...] = ()
    cut: bool = False
    """Whether the file has more than is shown."""
    flaw: SyntaxFlaw | None = None
    note: str = ""
    """How it was decoded, or why nothing is shown."""
    decoded: Decoded | None = field(default=None, repr=False)
    """The whole text, if it can be edited on a page."""

    @property
    def editable(self) -> bool:
        return self.decoded is not None


def preview(path: str, content: bytes) -> Preview:
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
    result = _text(path, kind, content, decoded)
    if decoded.guessed:
        note = "Not UTF-8; read as Windows-1252, so some characters may be wrong. Assistants and judges read UTF-8."
        result = replace(result, note=" ".join(filter(None, [result.note, note])))
    flaw = result.flaw or (syntax_flaw(path, decoded.text) if len(decoded.text) <= MAX_PARSED else None)
    return replace(result, decoded=decoded if len(decoded.text) <= MAX_EDITABLE else None, flaw=flaw)


def _text(path: str, kind: str, content: bytes, decoded: Decoded) -> Preview:
    text = decoded.text
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    details = f"{decoded.encoding_label}, {lines:,} line{'' if lines == 1 else 's'}"
    plain = Preview(
        "text", f"Text · {details}" if text else "Empty text file", text[:MAX_SHOWN], cut=len(text) > MAX_SHOWN
    )
    if not text.strip():
        return plain
    if kind == "svg":
        return Preview("image", f"SVG image · {details}", text=plain.text, cut=plain.cut)
    if kind == "markdown" and len(text) <= markup.MAX_MARKDOWN:
        return replace(plain, kind="markdown", summary=f"Markdown · {details}", html=markup.markdown(text))
    if kind == "table":
        table = read_table(text, tabs=extension(path) == "tsv")
        return replace(plain, kind="table", summary=_table_summary(table, decoded), tables=(table,))
    if kind == "jsonl":
        return _json_lines(plain, text)
    if kind == "json":
        return _json(plain, text)
    if kind == "yaml":
        return replace(plain, summary=f"YAML · {details}")
    if kind == "mail":
        return _mail(plain, content)
    return plain


def _table_summary(table: PreviewTable, decoded: Decoded) -> str:
    rows = f"{table.count:,} row{'' if table.count == 1 else 's'}"
    return f"Table · {rows}, {len(table.head)} columns, separated by {table.separated_by} · {decoded.encoding_label}"


def _json(plain: Preview, text: str) -> Preview:
    """Indented, unless it is too long or no JSON."""
    plain = replace(plain, summary=plain.summary.replace("Text", "JSON", 1))
    if len(text) > MAX_PARSED:
        return plain
    shown = ""
    try:
        for piece in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(json.loads(text)):
            shown += piece
            if len(shown) > MAX_SHOWN:  # deep data have more white space than there is memory
                break
    except (ValueError, RecursionError):
        return plain
    return replace(plain, text=shown[:MAX_SHOWN], cut=len(shown) > MAX_SHOWN)


def _json_lines(plain: Preview, text: str) -> Preview:
    rows: list[tuple[int, str, str]] = []
    count, flaw = 0, None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        count += 1
        broken = json_flaw(line)
        flaw = flaw or (SyntaxFlaw(number, broken.column, broken.message) if broken else None)
        if len(rows) < ROWS:
            rows.append(
                (number, _pretty_json(line) if not broken else line[:MAX_LINE], broken.message if broken else "")
            )
    summary = f"JSON lines · {count:,} entr{'y' if count == 1 else 'ies'}"
    return replace(plain, kind="lines", summary=summary, lines=tuple(rows), cut=count > len(rows), flaw=flaw)


def _pretty_json(line: str) -> str:
    try:
        return json.dumps(json.loads(line), ensure_ascii=False, indent=1)[:MAX_LINE]
    except (ValueError, RecursionError):
        return line[:MAX_LINE]


def _image(kind: str, content: bytes) -> Preview:
    size = pixels(kind, content)
    summary = f"{kind.upper()} image" + (f" · {size[0]:,} × {size[1]:,} pixels" if size else "")
    if size and size[0] * size[1] > MAX_PIXELS:
        return Preview("nothing", summary, note="Too large to show here. Download it.")
    return Preview("image", summary)


def _pdf(content: bytes) -> Preview:
    try:
        document = extract("pdf", content)
    except UnreadableDocumentError as error:
        return Preview("pdf", "PDF", note=f"Its text could not be extracted. {error}")
    pages = document["pages"]
    text = "\n\n".join(f"– {number} –\n{page}" for number, page in enumerate(pages, 1) if page.strip())
    note = "" if text else "It contains only images of pages, no text; an assistant may not be able to read it."
    summary = f"PDF · {document['count']} page{'' if document['count'] == 1 else 's'}"
    return Preview("pdf", summary, text=text[:MAX_SHOWN], cut=document["count"] > len(pages), note=note)


def _office(kind: str, content: bytes) -> Preview:
    summary = "Word document" if kind == "docx" else "Spreadsheet"
    try:
        document = extract(kind, content)
    except UnreadableDocumentError as error:
        return Preview("nothing", summary, note=f"Cannot be shown. {error} Download it to view it.")
    if kind == "docx":
        html = markup.clean(document["html"])
        note = "Images are not shown here; download the file to see them." if document["pictures"] else ""
        return Preview("document", summary, html=html, cut=document["cut"], note=note)
    tables = tuple(_sheet(sheet) for sheet in document["sheets"])
    count = f"{len(tables)} sheet{'' if len(tables) == 1 else 's'}"
    return Preview("sheets", f"{summary} · {count}", tables=tables, cut=document["cut"])


def _sheet(sheet: dict[str, Any]) -> PreviewTable:
    rows = sheet["rows"]
    body = tuple(TableRow(number, cut(row)) for number, row in enumerate(rows[1:], 2))
    return PreviewTable(cut(rows[0]) if rows else (), body, max(0, sheet["count"] - 1), name=sheet["name"])


def _mail(plain: Preview, content: bytes) -> Preview:
    try:
        mail = extract("mail", content)
    except UnreadableDocumentError:
        return plain
    return replace(
        plain,
        kind="mail",
        summary="E-mail",
        headers=tuple((name, value) for name, value in mail["headers"]),
        text=mail.get("text", "")[:MAX_SHOWN],
        html=markup.clean(mail["html"]) if mail.get("html") else "",
        attachments=tuple((name, size) for name, size in mail["attachments"]),
    )
