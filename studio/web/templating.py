"""Templates are written one element a line and leave as one line: what indents them for people costs no bytes."""

from __future__ import annotations

import re

from django.template import Origin
from django.template.loaders import filesystem

_KEPT_OR_BROKEN = re.compile(r"(<(pre|textarea)\b.*?</\2>)|\s*\n\s*", re.DOTALL)
"""An element whose white space shows, or the end of a line with what indents the next."""


class Loader(filesystem.Loader):
    """Reads HTML templates with each line's end and indentation as one space."""

    def get_contents(self, origin: Origin) -> str:
        source: str = super().get_contents(origin)
        return on_one_line(source) if origin.name.endswith(".html") else source


def on_one_line(source: str) -> str:
    """A template without its line breaks, those within ``pre`` and ``textarea`` excepted."""
    return _KEPT_OR_BROKEN.sub(lambda found: found[1] or " ", source).strip()
