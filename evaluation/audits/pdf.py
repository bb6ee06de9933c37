"""A page as a PDF, by the Chromium of the machine."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from django.conf import settings

from studio.dev.browser import find_chromium

PATIENCE = 60
"""Seconds."""


class PrintError(Exception):
    """No PDF was written; the message says why."""


def print_pdf(page: str, path: Path) -> None:
    """Raises PrintError."""
    chromium = find_chromium()
    if chromium is None:
        raise PrintError("there is no Chromium here. Install it, or open the report in a browser and print it.")
    styles = f'="{(settings.BASE_DIR / "static").as_uri()}/'
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "report.html")
        source.write_text(page.replace(f'="{settings.STATIC_URL}', styles), encoding="utf-8")
        made = Path(folder, "report.pdf")
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
        own = [f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}"]
        try:
            subprocess.run(
                [chromium, *options, *own, source.as_uri()], capture_output=True, check=False, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired as error:
            raise PrintError(f"Chromium took longer than {PATIENCE} s.") from error
        if not made.exists():
            raise PrintError("Chromium wrote no PDF.")
        path.write_bytes(made.read_bytes())
