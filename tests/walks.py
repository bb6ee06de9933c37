"""Walks through the code that docs/architecture.md shows, and the functions that are being called."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def documented(walk: str) -> list[str]:
    """Functions, in order."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = text.partition(f"## A walk: {walk}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\d+\. `([\w.]+)`", section, re.MULTILINE)


def called_by(app: str) -> list[str]:
    """Functions of the app that are being called, outermost first."""
    found = []
    frame: Any = sys._getframe(2)
    while frame is not None:
        path, name = Path(frame.f_code.co_filename), frame.f_code.co_qualname
        if path.is_relative_to(ROOT / app) and "<" not in name:
            found.append(f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}.{name}")
        frame = frame.f_back
    return found[::-1]
