"""Extracts a document's text: ``extract.py KIND < file`` prints JSON.

Parsers of untrusted files may misbehave, so this runs as a separate process with little memory and time, no open files
and an empty environment. No module imports it.
"""

from __future__ import annotations

import email
import email.policy
import io
import json
import resource
import sys
from typing import Any

MEMORY = 1 << 29
SECONDS = 10
PAGES = 40
SHEETS = 12
ROWS = 200
COLUMNS = 60
CELL = 400
MAX_CHARACTERS = 400_000
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
    return {
        "headers": [[name, str(message[name])[:1000]] for name in HEADERS if message[name]],
        "text" if not body or body.get_content_type() == "text/plain" else "html": text[:MAX_CHARACTERS],
        "attachments": [
            [str(part.get_filename() or "without a name")[:300], len(part.get_payload(decode=True) or b"")]
            for part in message.iter_attachments()
        ],
    }


def confine() -> None:
    """Call after all imports and before reading the file."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


if __name__ == "__main__":
    result = {"docx": docx, "sheets": sheets, "pdf": pdf, "mail": mail}[sys.argv[1]](sys.stdin.buffer.read())
    sys.stdout.write(json.dumps(result))
