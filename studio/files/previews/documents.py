"""Text of Word, spreadsheet, PDF and mail files, extracted in a confined process (``extract.py``)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

EXTRACT = Path(__file__).with_name("extract.py")
SECONDS = 15


class UnreadableDocumentError(ValueError):
    """The file is broken, or reading it exceeds the limits."""


def extract(kind: str, content: bytes, *, whole: bool = False) -> dict[str, Any]:
    """``whole``: not only the first pages and rows."""
    try:
        process = subprocess.run(
            [sys.executable, "-I", str(EXTRACT), kind, *(["whole"] if whole else [])],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            timeout=SECONDS,
            check=True,
        )
        document = json.loads(process.stdout)
    except subprocess.TimeoutExpired:
        raise UnreadableDocumentError("It took too long to read.") from None
    except (subprocess.CalledProcessError, ValueError):
        raise UnreadableDocumentError("It is corrupt, or unpacks to more than allowed.") from None
    return dict(document)
