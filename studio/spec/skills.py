"""A skill's text: SKILL.md, with a head that says in a line what the skill is for."""

from __future__ import annotations

import re

MAIN = "SKILL.md"
_HEAD = re.compile(r"\A\ufeff?---\s*\n(?P<head>.*?)\n---\s*(?:\n|\Z)", re.DOTALL)
_DESCRIPTION = re.compile(r"^description:\s*[>|]?-?\s*(?P<text>.*(?:\n[ \t]+.*)*)", re.MULTILINE)
LONGEST_ABOUT = 300


def about(text: str) -> str:
    """What the skill is for: the description in its head, or its first line that says something."""
    if said := description(text):
        return said[:LONGEST_ABOUT]
    head = _HEAD.match(text)
    body = text[head.end() :] if head else text
    return next((bare for line in body.splitlines() if (bare := line.strip().lstrip("#").strip())), "")[:LONGEST_ABOUT]


def description(text: str) -> str:
    """What the head says the skill is for, which every assistant reads at once; empty if it says nothing."""
    head = _HEAD.match(text)
    found = _DESCRIPTION.search(head["head"]) if head else None
    return " ".join(found["text"].split()).strip("\"'") if found else ""


def blank(name: str) -> str:
    """What a new skill's text begins with."""
    title = name.replace("-", " ").replace("_", " ").strip().capitalize() or "A skill"
    return f"---\nname: {name}\ndescription: \n---\n# {title}\n\n"
