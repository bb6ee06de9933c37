"""Extracts a document's text: ``extract.py KIND [whole] [attached] < file`` prints JSON; ``whole`` raises what is only
a preview, ``attached`` adds the files attached to mail.

Parsers of untrusted files may misbehave, so this runs in the sandbox, or where there is none as a separate process with
little memory and time, no open files and an empty environment. No module imports it.
"""

from __future__ import annotations

import base64
import email
import email.policy
import io
import json
import re
import resource
import sys
import zipfile
from typing import Any
from xml.etree import ElementTree

MEMORY = 1 << 29
SECONDS = 10
PAGES = 40
SHEETS = 12
ROWS = 200
COLUMNS = 60
CELL = 400
MAX_CHARACTERS = 400_000
ATTACHED = False
MAX_PART = 20_000_000
"""Bytes of an unpacked part of a presentation, or of a file attached to mail."""
HEADERS = ("From", "To", "Cc", "Date", "Subject")


def docx(content: bytes) -> dict[str, Any]:
    import mammoth

    confine()
    pictures: list[Any] = []

    def omit(image: Any) -> list[Any]:
        pictures.append(image)
        return []

    result = mammoth.convert_to_html(io.BytesIO(content), convert_image=omit)
    return {"html": result.value[:MAX_CHARACTERS], "cut": len(result.value) > MAX_CHARACTERS, "pictures": len(pictures)}


def sheets(content: bytes) -> dict[str, Any]:
    import python_calamine

    confine()
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    result = []
    for name in book.sheet_names[:SHEETS]:
        sheet = book.get_sheet_by_name(name)
        rows = [[str(value)[:CELL] for value in row[:COLUMNS]] for row in sheet.to_python(nrows=ROWS + 1)]
        result.append({"name": name, "rows": rows, "count": sheet.total_height})
    return {"sheets": result, "cut": len(book.sheet_names) > SHEETS}


def pdf(content: bytes) -> dict[str, Any]:
    import pypdf

    confine()
    document = pypdf.PdfReader(io.BytesIO(content))
    pages: list[str] = []
    for page in document.pages[:PAGES]:
        pages.append(page.extract_text())
        if sum(map(len, pages)) > MAX_CHARACTERS:
            break
    return {"pages": pages, "count": len(document.pages)}


def mail(content: bytes) -> dict[str, Any]:
    confine()
    message = email.message_from_bytes(content, policy=email.policy.default)
    body = message.get_body(("plain", "html"))
    text = body.get_content() if body else ""
    attached = list(message.iter_attachments())
    return {
        "headers": [[name, str(message[name])[:1000]] for name in HEADERS if message[name]],
        "text" if not body or body.get_content_type() == "text/plain" else "html": text[:MAX_CHARACTERS],
        "attachments": [[_file_name(part), len(part.get_payload(decode=True) or b"")] for part in attached],
        "attached": [[_file_name(part), _encoded(part)] for part in attached] if ATTACHED else [],
    }


def _file_name(part: Any) -> str:
    return str(part.get_filename() or ("message.eml" if part.is_multipart() else "without a name"))[:300]


def _encoded(part: Any) -> str:
    """Of a message that is attached, all of it as it is: not every header can be folded anew."""
    if part.is_multipart():
        as_it_is = email.policy.default.clone(refold_source="none")
        content = b"".join(inner.as_bytes(policy=as_it_is) for inner in part.get_payload())
    else:
        content = part.get_payload(decode=True) or b""
    return base64.b64encode(content).decode() if len(content) <= MAX_PART else ""


def slides(content: bytes) -> dict[str, Any]:
    """PowerPoint: the lines of each slide, with its notes."""
    confine()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        matches = (re.fullmatch(r"ppt/slides/slide(\d+)\.xml", name) for name in archive.namelist())
        numbers = sorted(int(match[1]) for match in matches if match)
        shown = numbers[:PAGES]
        found = [
            {
                "lines": _drawn_lines(archive, f"ppt/slides/slide{number}.xml"),
                "notes": _drawn_lines(archive, f"ppt/notesSlides/notesSlide{number}.xml"),
            }
            for number in shown
        ]
    return {"slides": found, "count": len(numbers)}


def _drawn_lines(archive: zipfile.ZipFile, name: str) -> list[str]:
    if name not in archive.namelist():
        return []
    with archive.open(name) as file:
        part = file.read(MAX_PART + 1)
    if len(part) > MAX_PART:
        raise ValueError("a part unpacks to too much")
    drawing = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
    lines = (
        "".join(run.text or "" for run in paragraph.iter(f"{drawing}t"))
        for paragraph in ElementTree.fromstring(part).iter(f"{drawing}p")
    )
    return [line for line in lines if line.strip()]


def confine() -> None:
    """Call after all imports and before reading the file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


if __name__ == "__main__":
    sys.path.append("/opt/readers")  # in the sandbox
    ATTACHED = "attached" in sys.argv[2:]
    if "whole" in sys.argv[2:]:
        PAGES, SHEETS, ROWS, COLUMNS, CELL = 2_000, 200, 20_000, 400, 4_000
    kinds = {"docx": docx, "sheets": sheets, "pdf": pdf, "mail": mail, "slides": slides}
    result = kinds[sys.argv[1]](sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(result))
