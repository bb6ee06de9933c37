"""What a page says and offers, a line for each paragraph, heading, cell or field: HTML without what is only looks."""

from __future__ import annotations

import re

from django.db import connection
from selectolax.lexbor import LexborHTMLParser, LexborNode

INLINE = set(
    "a abbr b button code em i img input kbd label mark meter option output progress q s samp select small span strong"
    " sub summary sup textarea time wbr".split()
)
UNSAID = {"svg", "script", "style", "template", "noscript"}
LOOKS = set(
    "class id for style width height rows cols size tabindex role scope datetime autocomplete spellcheck aria-hidden"
    " aria-labelledby aria-describedby aria-controls".split()
)
"""Attributes that say nothing of what a page is about, or what stands elsewhere on it."""
TOKEN = "csrfmiddlewaretoken"
MONTHS = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
EMPTY = re.compile(r"\w+:")
FIRST_KEY = 1_000_000
"""Rows made from here on have keys that are known as such: `keys_from_here`."""
NEVER_TWICE = (
    (r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{12,}\b", "HASH"),
    (r"(?<=SHA256:)[\w+/]{43}|(?<=file=)[^&\s]+|(?<=\.stored value=)[^>\s]+|(?<=/invitation/)[\w-]+", "TOKEN"),
    (r"(?<=pbs_)[\w-]+|(?<=ssh-ed25519 )[\w+/=]+", "TOKEN"),
    (r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|\+00:00)?)?", "DATE"),
    (rf"\b\d{{1,2}} (?:{MONTHS})[a-z]*\.? 20\d\d(?:,? \d\d:\d\d(?::\d\d)?)?", "DATE"),
    (r"just now|\b\d+ (?:s|seconds?|min|minutes?) ago", "AGO"),
    (r"\b100\d{4}\b", "KEY"),
)
"""What differs from one run to the next, and what stands for it."""


def keys_from_here() -> None:
    """Rows that are made from now on have large keys, as if the tests before had made as many in every run."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(oid::regclass, %s) FROM pg_class WHERE relkind = 'S'", [FIRST_KEY])


def outline(html: str | bytes) -> list[str]:
    page = LexborHTMLParser(html)
    root = page.css_first("main") or page.body
    assert root is not None
    lines = [""]
    _write(root, lines)
    return [line for line in (_steady(" ".join(line.split())) for line in lines) if line and not EMPTY.fullmatch(line)]


def _steady(line: str) -> str:
    for pattern, name in NEVER_TWICE:
        line = re.sub(pattern, name, line)
    return line


def _write(node: LexborNode, lines: list[str]) -> None:
    for child in node.iter(include_text=True):
        if child.is_text_node:
            lines[-1] += child.text(deep=False)
        elif (tag := child.tag or "") in UNSAID:
            continue
        elif tag in INLINE:
            said = _attributes(child)
            marked = said or tag in ("input", "button")
            if child.attributes.get("name") == TOKEN:
                continue
            lines[-1] += f" <{tag}{said}>" if marked else ""
            _write(child, lines)
            lines[-1] += "</> " if marked and tag != "input" else ""
        else:
            lines.append(f"{tag}{_attributes(child)}: ")
            _write(child, lines)
            lines.append("")


def _attributes(node: LexborNode) -> str:
    told = {name: value for name, value in node.attributes.items() if name not in LOOKS}
    return "".join(f" {name}" + (f"={value}" if value else "") for name, value in told.items())
