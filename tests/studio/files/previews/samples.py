"""Minimal files of several formats."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from xml.sax.saxutils import escape


def a_png(*, width: int = 1, height: int = 1) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"\0\x30\x60\xe0" if (width, height) == (1, 1) else b""
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def a_pdf(text: str) -> bytes:
    stream = zlib.compress(f"BT /F1 24 Tf 40 100 Td ({text}) Tj ET".encode())
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%sendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n%strailer<</Root 1 0 R/Size 6>>\nstartxref\n%d\n%%%%EOF" % (table, start)
    return out


def a_docx(text: str) -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    return _zip(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": _relations("officeDocument", "word/document.xml"),
            "word/document.xml": f'<w:document xmlns:w="{space}"><w:body><w:p><w:r>'
            f"<w:t>{escape(text)}</w:t></w:r></w:p></w:body></w:document>",
        }
    )


def an_xlsx(rows: list[list[str]]) -> bytes:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    cells = "".join(
        f'<row r="{line}">'
        + "".join(
            f'<c r="{chr(65 + place)}{line}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
            for place, value in enumerate(row)
        )
        + "</row>"
        for line, row in enumerate(rows, 1)
    )
    return _zip(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": _relations("officeDocument", "xl/workbook.xml"),
            "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{office}"><sheets>'
            '<sheet name="Prices" sheetId="1" r:id="r1"/></sheets></workbook>',
            "xl/_rels/workbook.xml.rels": _relations("worksheet", "worksheets/sheet1.xml"),
            "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{space}"><sheetData>{cells}</sheetData></worksheet>',
        }
    )


def a_pptx(*slides: list[str]) -> bytes:
    space = "http://schemas.openxmlformats.org/drawingml/2006/main"
    return _zip(
        {
            f"ppt/slides/slide{number}.xml": f'<p:sld xmlns:p="p" xmlns:a="{space}">'
            + "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
            + "</p:sld>"
            for number, lines in enumerate(slides, 1)
        }
    )


def _relations(kind: str, target: str) -> str:
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        f'{kind}" Target="{target}"/></Relationships>'
    )


def _zip(files: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return out.getvalue()
