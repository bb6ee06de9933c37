"""A skill's text: SKILL.md, with a head that says in a line what the skill is for."""

from __future__ import annotations

import re

SKILL_FILE = "SKILL.md"
_HEAD = re.compile(r"\A\ufeff?---\s*\n(?P<head>.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_DESCRIPTION = re.compile(r"^description:\s*[>|]?-?\s*(?P<text>.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_PART = re.compile(r"\n[ \t\r]*\n")
LONGEST_HEAD = 20_000
LONGEST_ABOUT = 300


def one_line_description(text: str) -> str:
    """What the skill is for, in a line: the description in its head, or its first paragraph."""
    text = text[:LONGEST_HEAD]
    parts = _PART.split(text_below_head(text))
    return _line(description(text)) or next(filter(None, map(_without_titles, parts)), "")


def _without_titles(part: str) -> str:
    return _line(" ".join(line for line in part.strip().splitlines() if not line.startswith("#")))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_ABOUT else line[:LONGEST_ABOUT].rsplit(" ", 1)[0] + " …"


def description(text: str) -> str:
    """What the head says the skill is for, which every assistant reads at once; empty if it says nothing."""
    head = _HEAD.match(text)
    found = _DESCRIPTION.search(head["head"]) if head else None
    return " ".join(found["text"].split()).strip("\"'") if found else ""


def text_below_head(text: str) -> str:
    """The text without its head."""
    head = _HEAD.match(text[:LONGEST_HEAD])
    return text[head.end() :] if head else text


def new_skill_text(name: str) -> str:
    """What a new skill's text begins with."""
    title = name.replace("-", " ").replace("_", " ").strip().capitalize() or "A skill"
    return f"---\nname: {name}\ndescription: \n---\n# {title}\n\n"
