"""Word, spreadsheet, PDF and mail files: their words, read by a process of their own (``extract.py``)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

EXTRACT = Path(__file__).with_name("extract.py")
SECONDS = 15


class UnreadableDocumentError(ValueError):
    """The file is broken, or reading it takes more than is given."""


def extract(kind: str, content: bytes) -> dict[str, Any]:
    """What ``extract.py`` says of these bytes. Raises UnreadableDocumentError."""
    try:
        run = subprocess.run(
            [sys.executable, "-I", str(EXTRACT), kind],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            timeout=SECONDS,
            check=True,
        )
        said = json.loads(run.stdout)
    except subprocess.TimeoutExpired:
        raise UnreadableDocumentError("It took too long to read.") from None
    except (subprocess.CalledProcessError, ValueError):
        raise UnreadableDocumentError("It is corrupt, or unpacks to more than allowed.") from None
    return dict(said)
