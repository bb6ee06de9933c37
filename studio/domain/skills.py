"""Parsing of SKILL.md: a YAML head with a description, and the text below it."""

from __future__ import annotations

import re

SKILL_FILE = "SKILL.md"
_HEAD = re.compile(r"\A\ufeff?---\s*\n(?P<head>.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_DESCRIPTION = re.compile(r"^description:\s*[>|]?-?\s*(?P<text>.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_PARAGRAPH_BREAK = re.compile(r"\n[ \t\r]*\n")
LONGEST_HEAD = 20_000
LONGEST_SUMMARY = 300


def one_line_description(text: str) -> str:
    text = text[:LONGEST_HEAD]
    parts = _PARAGRAPH_BREAK.split(text_below_head(text))
    return _shorten(description(text)) or next(filter(None, map(_without_headings, parts)), "")


def _without_headings(part: str) -> str:
    return _shorten(" ".join(line for line in part.strip().splitlines() if not line.startswith("#")))


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_SUMMARY else line[:LONGEST_SUMMARY].rsplit(" ", 1)[0] + " …"


def description(text: str) -> str:
    """The description in the head, which agents always see; empty if there is none."""
    head = _HEAD.match(text)
    match = _DESCRIPTION.search(head["head"]) if head else None
    return " ".join(match["text"].split()).strip("\"'") if match else ""


def text_below_head(text: str) -> str:
    head = _HEAD.match(text[:LONGEST_HEAD])
    return text[head.end() :] if head else text


def new_skill_text(name: str) -> str:
    title = name.replace("-", " ").replace("_", " ").strip().capitalize() or "A skill"
    return f"---\nname: {name}\ndescription: \n---\n# {title}\n\n"
