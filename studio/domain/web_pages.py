"""The web as a persona's agents find it: pages frozen among its files, ``web/<name>.md``.

A page begins with a block of facts; its text follows. So pilots repeat, and nothing is fetched from the real web.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from itertools import count

import yaml

from studio.domain.base import Spec
from studio.domain.storable import storable

FOLDER = "web"
ENDINGS = (".md", ".txt")
MAX_PAGES = 500
MAX_CHARACTERS = 400_000
MAX_FACTS = 20_000
"""Characters between the dashes."""
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


class WebPage(Spec):
    """A new one is empty."""

    address: str = ""
    title: str = ""
    date: str = ""
    """When it was read, as YYYY-MM-DD; empty if unknown."""
    text: str = ""
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
        facts = _read_facts(match[1])
    except (yaml.YAMLError, ValueError, RecursionError):  # a date that is none is a ValueError
        raise WebPageError("What stands between the dashes is not YAML.") from None
    if not isinstance(facts, dict) or not str(facts.get("address") or "").strip():
        raise WebPageError("Between the dashes, write address: and the page's address.")
    if unknown := [str(name) for name in facts if name not in _KNOWN]:
        raise WebPageError(f"Between the dashes, {unknown[0]} means nothing; there are {', '.join(_KNOWN)}.")
    if odd := next((name for name in ("address", "title", "date") if isinstance(facts.get(name), dict | list)), None):
        raise WebPageError(f"Between the dashes, write {odd} as one line of text.")
    tasks = facts.get("tasks") or []
    if not isinstance(tasks, list) or any(isinstance(task, dict | list) for task in tasks):
        raise WebPageError("Write tasks as a list, such as [task_1, task_2], or leave it out.")
    address = str(facts["address"]).strip()
    page = WebPage(
        address=address,
        title=str(facts.get("title") or "").strip() or address,
        date=str(facts.get("date") or "").strip(),
        text=whole[match.end() :].strip(),
        tasks=tuple(map(str, tasks)),
    )
    for _, problem in page_problems(page):
        raise WebPageError(problem)
    return page


def write_web_page(page: WebPage) -> bytes:
    """What ``read_web_page`` reads as the same page."""
    facts: dict[str, object] = {"address": page.address, "title": page.title}
    if page.date:
        facts["date"] = page.date
    if page.tasks:
        facts["tasks"] = list(page.tasks)
    head = yaml.safe_dump(facts, allow_unicode=True, sort_keys=False, width=10_000)
    return f"---\n{head}---\n{page.text.strip()}\n".encode()


def page_problems(page: WebPage) -> Iterator[tuple[str, str]]:
    """Field, and what is wrong with it."""
    facts = (("address", page.address), ("title", page.title), ("date", page.date), ("text", page.text))
    for field, part in (*facts, *(("tasks", task) for task in page.tasks)):
        if storable(part) != part:
            yield field, "This holds a character that no text has."
    if not re.match(r"https?://[^\s/]+", page.address):
        yield "address", "The address must begin with https:// or http://."
    elif re.search(r"\s", page.address):
        yield "address", "An address has no spaces."
    if len(page.text) > MAX_CHARACTERS:
        yield "text", f"This has {len(page.text):,} characters; a page has at most {MAX_CHARACTERS:,}."


def file_name_for(page: WebPage, taken: Collection[str]) -> str:
    """A new name that tells people what the file holds."""
    host, _, rest = same_address(page.address).partition("/")
    words = page.title if page.title != page.address else f"{host} {rest}"
    plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode().lower()
    stem = re.sub(r"[^a-z0-9]+", "-", plain)[:60].strip("-") or "page"
    names = (f"{stem}{f'-{number}' if number > 1 else ''}.md" for number in count(1))
    return next(name for name in names if name not in taken)


def _read_facts(text: str) -> object:
    """Raises YAMLError, ValueError and RecursionError. Aliases could multiply a few characters beyond all bounds."""
    if len(text) > MAX_FACTS or any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text)):
        raise ValueError("too much")
    return yaml.safe_load(text)


def same_address(address: str) -> str:
    """What makes two addresses one page: not the scheme, www, the fragment or a slash at the end."""
    bare = re.sub(r"^[a-z]+://", "", address.strip(), flags=re.IGNORECASE).partition("#")[0]
    host, slash, rest = bare.partition("/")
    return f"{host.lower().removeprefix('www.')}{slash}{rest}".rstrip("/")
