"""Text of Word, spreadsheet, PDF and mail files, extracted in a confined process (``extract.py``)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EXTRACT = Path(__file__).with_name("extract.py")
PACKAGES = ("mammoth", "cobble", "python_calamine", "pypdf")
"""What it imports."""
SECONDS = 15


class UnreadableDocumentError(ValueError):
    """The file is broken, or reading it exceeds the limits."""


@dataclass(frozen=True)
class Confinement:
    """Where foreign documents are read. ``read`` gets the program, the packages it imports, its arguments and the
    document; it returns what is printed, and raises TimeoutError and ValueError."""

    available: Callable[[], bool]
    read: Callable[[Path, Sequence[str], Sequence[str], bytes], bytes]


_confinement: Confinement | None = None


def register_confinement(confinement: Confinement) -> None:
    """Used from now on where it is available; a process of its own elsewhere."""
    global _confinement
    _confinement = confinement


def extract(kind: str, content: bytes, *, whole: bool = False, attached: bool = False) -> dict[str, Any]:
    """``whole``: not only the first pages and rows. ``attached``: the files attached to mail, too."""
    read = _confinement.read if _confinement and _confinement.available() else read_apart
    options = [name for name, wanted in (("whole", whole), ("attached", attached)) if wanted]
    try:
        document = json.loads(read(EXTRACT, PACKAGES, [kind, *options], content))
    except TimeoutError:
        raise UnreadableDocumentError("It took too long to read.") from None
    except (ValueError, RecursionError):
        raise UnreadableDocumentError("It is corrupt, or unpacks to more than allowed.") from None
    return dict(document)


def read_apart(program: Path, packages: Sequence[str], arguments: Sequence[str], content: bytes) -> bytes:
    try:
        process = subprocess.run(
            [sys.executable, "-I", str(program), *arguments],
            input=content,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            timeout=SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        raise TimeoutError from None
    except subprocess.CalledProcessError as error:
        raise ValueError(str(error)) from None
    return process.stdout
