from __future__ import annotations

from pathlib import Path

from django.conf import settings

LONGEST = 120


def test_no_template_line_is_longer_than_120_characters():
    long = [
        f"{path.relative_to(settings.BASE_DIR)}:{number} has {len(line)}"
        for path in sorted(Path(settings.BASE_DIR, "templates").rglob("*.html"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]

    assert long == []
