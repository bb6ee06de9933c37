"""The web as a persona's agents find it: pages frozen among its files, ``web/<name>.md``.

A page begins with a block of facts; its text follows. So pilots repeat, and nothing is fetched from the real web.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import yaml

FOLDER = "web"
ENDINGS = (".md", ".txt")
MAX_PAGES = 500
MAX_CHARACTERS = 400_000
TOOLS = ("web_search", "web_fetch")
NO_PAGES = "This persona has no web pages."
EXAMPLE = """\
---
address: https://example.org/fees
title: Fees for 2026
date: 2026-03-01
tasks: []
---
The fee for a permit is 40 euros.
"""
_FACTS = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_KNOWN = ("address", "title", "date", "tasks")


class WebPageError(ValueError):
    """The message is for the author."""


@dataclass(frozen=True)
class WebPage:
    address: str
    title: str
    date: str
    """When it was read, as YYYY-MM-DD; empty if unknown."""
    text: str
    tasks: tuple[str, ...] = ()
    """Those that can find it; empty: all."""


def is_web_page(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder == FOLDER and name.endswith(ENDINGS)


def read_web_page(content: bytes) -> WebPage:
    """Raises WebPageError."""
    try:
        whole = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise WebPageError("This is not UTF-8 text.") from None
    match = _FACTS.match(whole)
    if match is None:
        raise WebPageError("Begin with a line of three dashes, the address, and another such line.")
    try:
        facts = yaml.safe_load(match[1])
    except yaml.YAMLError:
        raise WebPageError("What stands between the dashes is not YAML.") from None
    if not isinstance(facts, dict) or not str(facts.get("address") or "").strip():
        raise WebPageError("Between the dashes, write address: and the page's address.")
    if unknown := [str(name) for name in facts if name not in _KNOWN]:
        raise WebPageError(f"Between the dashes, {unknown[0]} means nothing; there are {', '.join(_KNOWN)}.")
    address = str(facts["address"]).strip()
    if not re.match(r"https?://[^\s/]+", address):
        raise WebPageError("The address must begin with https:// or http://.")
    tasks = facts.get("tasks") or []
    if not isinstance(tasks, list):
        raise WebPageError("Write tasks as a list, such as [task_1, task_2], or leave it out.")
    text = whole[match.end() :].strip()
    if len(text) > MAX_CHARACTERS:
        raise WebPageError(f"This has {len(text):,} characters; a page has at most {MAX_CHARACTERS:,}.")
    title = str(facts.get("title") or "").strip() or address
    return WebPage(address, title, str(facts.get("date") or "").strip(), text, tuple(map(str, tasks)))


def same_address(address: str) -> str:
    """What makes two addresses one page: not the scheme, www, the fragment or a slash at the end."""
    bare = re.sub(r"^[a-z]+://", "", address.strip(), flags=re.IGNORECASE).partition("#")[0]
    host, slash, rest = bare.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{rest}".rstrip("/")
