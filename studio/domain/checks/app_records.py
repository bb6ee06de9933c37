"""Records of simulated apps: what a persona's data holds, and what a request takes for granted of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from studio.domain.app_data import CLOCK
from studio.domain.caching import cached
from studio.domain.checks.rule import CheckContext
from studio.domain.text.clauses import Span, sentences
from studio.domain.tool_names import tool_domain

LONGEST = 20_000
_NOUN = (
    r"playlists?|songs?|tracks?|albums?|artists?|notes?|projects?|to-?dos?|groups?|expenses?|products?"
    r"|contacts?|drafts?|threads?|e-?mails?|mails?|messages?|alarms?"
)
"""Without labels: putting one on makes it."""
_NAMED = re.compile(
    rf"\b(?:{_NOUN}) (?:(?:called|named|titled|labell?ed) )?[“\"](?P<after>[^”\"\n]{{2,90}})[”\"]"
    rf"|[“\"](?P<before>[^”\"\n]{{2,90}})[”\"] (?:{_NOUN})\b",
    re.IGNORECASE,
)
_NAME = r"(?P<{}>[A-Z][a-z]+ [A-Z][a-z]+(?:-[A-Z][a-z]+)?)\b"
_PERSON = re.compile(
    rf"\b(?:[Ee]-?mail|[Tt]ext|[Cc]all|[Pp]hone|[Mm]essage) {_NAME.format('asked')}"
    r"|\b(?:[Ee]-?mail|[Mm]ail|[Mm]essage|[Tt]ext|[Ff]orward|[Ss]end|[Rr]eply|[Ww]rite)\b"
    rf"[^.!?\n“\"]{{0,40}}? to {_NAME.format('meant')}"
)
_PASSWORD = re.compile(r'"password"\s*:\s*"((?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}){3,200})"')
_MAKING = re.compile(
    r"\b(?:new|create|make|add (?:a|an)|write|draft|compose|start|set up|open (?:a|an)|rename|prepare|call it)\b",
    re.IGNORECASE,
)


def app_text(tools: tuple[str, ...], context: CheckContext) -> str | None:
    """All that the apps of these tools hold; None if an app's data is missing or cannot be read here."""
    apps = {tool_domain(tool) for tool in tools if "__" in tool}
    data = context.episode.persona.app_data
    if not apps or not apps <= data.keys() or any(data[app].sha256 not in context.texts for app in apps):
        return None
    words = context.once(_words_of_apps)
    return "\n".join(words[app] for app in sorted(apps))


def named_records(request: str) -> Iterator[Span]:
    """Names of records that the request refers to, not of those it asks to make."""
    for sentence in sentences(request[:LONGEST]):
        for match in _NAMED.finditer(sentence.text):
            if not _MAKING.search(sentence.text[: match.start()]):
                group = "after" if match["after"] else "before"
                start = sentence.start + match.start(group)
                yield Span(match[group], start, start + len(match[group]))


def people_to_reach(request: str) -> Iterator[Span]:
    """First and last names of those that a message is for."""
    for match in _PERSON.finditer(request[:LONGEST]):
        group = "asked" if match["asked"] else "meant"
        yield Span(match[group], match.start(group), match.end(group))


def invented_passwords(context: CheckContext) -> frozenset[str]:
    """Of the accounts in the apps' data."""
    data = context.episode.persona.app_data.values()
    return frozenset(
        str(json.loads(f'"{text}"')) for file in data for text in _passwords_in(context.texts.get(file.sha256, ""))
    )


@cached
def _passwords_in(text: str) -> tuple[str, ...]:
    return tuple({match[1] for match in _PASSWORD.finditer(text)})


def _words_of_apps(context: CheckContext) -> dict[str, str]:
    found = {}
    for app, file in context.episode.persona.app_data.items():
        if app == CLOCK or file.sha256 not in context.texts:
            continue
        try:
            found[app] = "\n".join(_texts(json.loads(context.texts[file.sha256])))
        except (ValueError, RecursionError):
            found[app] = context.texts[file.sha256]
    return found


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("first_name"), str):
            yield f"{value['first_name']} {value.get('last_name', '')}"
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part)
    elif isinstance(value, str | int | float):
        yield str(value)
